import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Reads, builds and down-converts batches of records. Keys and values are shown as hex. */
final class Batches {
    private static final HexFormat HEX = HexFormat.of();

    /** Shows what each run of bytes holds. */
    Oracle.Frame parse(List<byte[]> blobs) {
        Oracle.Frame answer = Oracle.Frame.of(List.of());
        ArrayNode parsed = answer.head().putArray("parsed");
        for (byte[] blob : blobs) {
            ObjectNode row = parsed.addObject();
            ArrayNode shown = row.putArray("batches");
            row.putNull("error");
            try {
                MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(blob));
                for (MutableRecordBatch batch : records.batches()) {
                    // A header that cannot be read is no batch, but the error of the run.
                    ObjectNode complete = Oracle.JSON.createObjectNode();
                    show(batch, complete);
                    shown.add(complete);
                }
                row.put("valid_bytes", records.validBytes());
            } catch (Exception fault) {
                row.put("error", Oracle.text(fault));
            }
        }
        return answer;
    }

    private static void show(MutableRecordBatch batch, ObjectNode row) {
        row.put("magic", batch.magic());
        row.put("is_valid", batch.isValid());
        row.put("checksum", batch.checksum());
        row.put("size_bytes", batch.sizeInBytes());
        row.put("base_offset", batch.baseOffset());
        row.put("last_offset", batch.lastOffset());
        row.put("partition_leader_epoch", batch.partitionLeaderEpoch());
        row.put("compression", batch.compressionType().name);
        row.put("timestamp_type", batch.timestampType().name);
        row.put("max_timestamp_ms", batch.maxTimestamp());
        row.put("producer_id", batch.producerId());
        row.put("producer_epoch", batch.producerEpoch());
        row.put("base_sequence", batch.baseSequence());
        row.put("last_sequence", batch.lastSequence());
        row.put("is_transactional", batch.isTransactional());
        row.put("is_control", batch.isControlBatch());
        row.put("count", batch.countOrNull());
        if (batch instanceof DefaultRecordBatch current) {
            row.put("base_timestamp_ms", current.baseTimestamp());
            batch.deleteHorizonMs().ifPresent(at -> row.put("delete_horizon_ms", at));
        }
        row.putNull("error");
        ArrayNode records = row.putArray("records");
        try {
            for (Record record : batch) {
                record.ensureValid();
                show(record, records.addObject());
            }
        } catch (Exception fault) {
            row.put("error", Oracle.text(fault));
        }
    }

    private static void show(Record record, ObjectNode row) {
        row.put("offset", record.offset());
        row.put("timestamp_ms", record.timestamp());
        row.put("key", hex(record.key()));
        row.put("value", hex(record.value()));
        ArrayNode headers = row.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers.addArray().add(header.key()).add(value == null ? null : HEX.formatHex(value));
        }
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] copied = new byte[buffer.remaining()];
        buffer.duplicate().get(copied);
        return HEX.formatHex(copied);
    }

    /** Writes the batches described, each as a run of bytes of its own. */
    Oracle.Frame build(ObjectNode head) throws ReflectiveOperationException {
        List<byte[]> built = new ArrayList<>();
        for (JsonNode batch : head.path("batches")) {
            built.add(batch.path("records").isEmpty() ? emptied(batch) : written(batch));
        }
        return Oracle.Frame.of(built);
    }

    private static byte[] written(JsonNode batch) throws ReflectiveOperationException {
        boolean isControl = batch.path("is_control").asBoolean();
        try (MemoryRecordsBuilder builder = builder(batch, isControl)) {
            for (JsonNode row : batch.path("records")) {
                long offset = row.path("offset").asLong();
                if (isControl) {
                    builder.appendControlRecordWithOffset(offset, record(row));
                } else {
                    builder.appendWithOffset(offset, record(row));
                }
            }
            if (batch.has("last_offset")) {
                builder.overrideLastOffset(batch.path("last_offset").asLong());
            }
            return copied(builder.build());
        }
    }

    /** The one constructor that takes a delete horizon; its stream's package differs by version. */
    private static MemoryRecordsBuilder builder(JsonNode batch, boolean isControl)
            throws ReflectiveOperationException {
        for (Constructor<?> constructor : MemoryRecordsBuilder.class.getConstructors()) {
            if (constructor.getParameterCount() != 14) {
                continue;
            }
            Class<?> stream = constructor.getParameterTypes()[0];
            return (MemoryRecordsBuilder) constructor.newInstance(
                stream.getConstructor(int.class).newInstance(1 << 12),
                (byte) batch.path("magic").asInt(2),
                compression(batch),
                TimestampType.forName(batch.path("timestamp_type").asText("CreateTime")),
                batch.path("base_offset").asLong(0),
                batch.path("log_append_time_ms").asLong(RecordBatch.NO_TIMESTAMP),
                batch.path("producer_id").asLong(RecordBatch.NO_PRODUCER_ID),
                (short) batch.path("producer_epoch").asInt(RecordBatch.NO_PRODUCER_EPOCH),
                batch.path("base_sequence").asInt(RecordBatch.NO_SEQUENCE),
                batch.path("is_transactional").asBoolean(),
                isControl,
                batch.path("partition_leader_epoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH),
                Integer.MAX_VALUE,
                batch.path("delete_horizon_ms").asLong(RecordBatch.NO_TIMESTAMP));
        }
        throw new IllegalStateException("no constructor of MemoryRecordsBuilder has 14 parameters");
    }

    /** A batch whose records compaction has all removed; only the current format has those. */
    private static byte[] emptied(JsonNode batch) {
        ByteBuffer output = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        DefaultRecordBatch.writeEmptyHeader(
            output,
            (byte) batch.path("magic").asInt(2),
            batch.path("producer_id").asLong(RecordBatch.NO_PRODUCER_ID),
            (short) batch.path("producer_epoch").asInt(RecordBatch.NO_PRODUCER_EPOCH),
            batch.path("base_sequence").asInt(RecordBatch.NO_SEQUENCE),
            batch.path("base_offset").asLong(0),
            batch.path("last_offset").asLong(0),
            batch.path("partition_leader_epoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH),
            TimestampType.forName(batch.path("timestamp_type").asText("CreateTime")),
            batch.path("log_append_time_ms").asLong(RecordBatch.NO_TIMESTAMP),
            batch.path("is_transactional").asBoolean(),
            batch.path("is_control").asBoolean());
        return output.array();
    }

    private static Compression compression(JsonNode batch) {
        String name = batch.path("compression").asText("none");
        JsonNode level = batch.path("level");
        if (level.isMissingNode() || level.isNull()) {
            return Compression.of(name).build();
        }
        return switch (name) {
            case "gzip" -> Compression.gzip().level(level.asInt()).build();
            case "lz4" -> Compression.lz4().level(level.asInt()).build();
            case "zstd" -> Compression.zstd().level(level.asInt()).build();
            default -> throw new IllegalArgumentException(name + " has no levels");
        };
    }

    private static SimpleRecord record(JsonNode row) {
        List<Header> headers = new ArrayList<>();
        for (JsonNode header : row.path("headers")) {
            headers.add(new RecordHeader(header.get(0).asText(), unhex(header.get(1))));
        }
        return new SimpleRecord(
            row.path("timestamp_ms").asLong(RecordBatch.NO_TIMESTAMP),
            unhex(row.path("key")),
            unhex(row.path("value")),
            headers.toArray(new Header[0]));
    }

    private static byte[] unhex(JsonNode text) {
        return text.isTextual() ? HEX.parseHex(text.asText()) : null;
    }

    private static byte[] copied(MemoryRecords records) {
        ByteBuffer buffer = records.buffer();
        byte[] copied = new byte[buffer.remaining()];
        buffer.get(copied);
        return copied;
    }

    /** Turns batches into an older format. Only clients before 4.0 can, so it is looked up by name. */
    Oracle.Frame downConvert(ObjectNode head, List<byte[]> blobs) throws Exception {
        byte magic = (byte) head.path("magic").asInt();
        long firstOffset = head.path("first_offset").asLong();
        Object time = Class.forName("org.apache.kafka.common.utils.Time").getField("SYSTEM").get(null);
        Method convert = null;
        for (Method method : MemoryRecords.class.getMethods()) {
            convert = method.getName().equals("downConvert") && !method.isBridge() ? method : convert;
        }
        if (convert == null) {
            throw new UnsupportedOperationException("these classes do not convert down");
        }
        List<byte[]> converted = new ArrayList<>();
        for (byte[] blob : blobs) {
            MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(blob));
            Object outcome = convert.invoke(records, magic, firstOffset, time);
            Method taken = outcome.getClass().getMethod("records");
            converted.add(copied((MemoryRecords) taken.invoke(outcome)));
        }
        return Oracle.Frame.of(converted);
    }
}
