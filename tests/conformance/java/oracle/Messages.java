import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageSizeAccumulator;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Reads and writes messages and internal records with the classes that Kafka generated. */
final class Messages {
    private Map<String, Schema> schemas;

    private Schema schema(String name) throws IOException {
        if (schemas == null) {
            schemas = Schema.all();
        }
        Schema schema = schemas.get(name);
        if (schema == null || schema.type == null) {
            throw new IllegalArgumentException("no class for schema " + name);
        }
        return schema;
    }

    /** Names every schema: its versions, key, type, and the package of its class. */
    Oracle.Frame schemas() throws IOException {
        if (schemas == null) {
            schemas = Schema.all();
        }
        Oracle.Frame answer = Oracle.Frame.of(List.of());
        ArrayNode rows = answer.head().putArray("schemas");
        for (Schema schema : schemas.values()) {
            ObjectNode row = rows.addObject();
            row.put("name", schema.name);
            row.put("lowest", schema.versions.lowest());
            row.put("highest", schema.versions.highest());
            row.put("api_key", schema.json.path("apiKey").asInt(-1));
            row.put("kind", schema.json.path("type").asText());
            row.put("package", schema.javaPackage());
        }
        return answer;
    }

    /** Decodes each run of bytes and encodes it again; a refusal is an empty run and its reason. */
    Oracle.Frame reencode(ObjectNode head, List<byte[]> blobs) throws Exception {
        Schema schema = schema(head.path("schema").asText());
        short version = (short) head.path("version").asInt();
        boolean wantsJson = head.path("json").asBoolean();
        List<byte[]> encoded = new ArrayList<>();
        Oracle.Frame answer = Oracle.Frame.of(encoded);
        ArrayNode refused = answer.head().putArray("refused");
        ArrayNode shown = answer.head().putArray("json");
        for (byte[] blob : blobs) {
            try {
                Message message = decode(schema, version, blob);
                encoded.add(encode(message, version));
                refused.addNull();
                if (wantsJson) {
                    shown.add(show(schema, message, version));
                }
            } catch (Exception | StackOverflowError fault) {
                encoded.add(new byte[0]);
                refused.add(Oracle.text(fault));
                if (wantsJson) {
                    shown.addNull();
                }
            }
        }
        return answer;
    }

    /** Encodes messages that hold legal values, drawn from the seed. */
    Oracle.Frame random(ObjectNode head) throws Exception {
        Schema schema = schema(head.path("schema").asText());
        short version = (short) head.path("version").asInt();
        if (!schema.versions.has(version)) {
            throw new IllegalArgumentException(schema.name + " has no version " + version);
        }
        var filler = new Filler(schema, version, new Random(head.path("seed").asLong()));
        List<byte[]> encoded = new ArrayList<>();
        for (int i = head.path("count").asInt(); i > 0; i--) {
            encoded.add(encode((Message) filler.message(), version));
        }
        return Oracle.Frame.of(encoded);
    }

    private static Message decode(Schema schema, short version, byte[] blob) throws Exception {
        Message message = (Message) schema.type.getConstructor().newInstance();
        ByteBuffer input = ByteBuffer.wrap(blob);
        message.read(new ByteBufferAccessor(input), version);
        if (input.hasRemaining()) {
            throw new IllegalArgumentException(input.remaining() + " bytes are left over");
        }
        return message;
    }

    private static byte[] encode(Message message, short version) {
        var cache = new ObjectSerializationCache();
        var size = new MessageSizeAccumulator();
        message.addSize(size, cache, version);
        byte[] output = new byte[size.totalSize()];
        ByteBuffer buffer = ByteBuffer.wrap(output);
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException("Kafka wrote less than it counted");
        }
        return output;
    }

    private static JsonNode show(Schema schema, Message message, short version) throws Exception {
        Class<?> converter = Class.forName(schema.type.getName() + "JsonConverter");
        Method write = converter.getMethod("write", schema.type, short.class, boolean.class);
        return (JsonNode) write.invoke(null, message, version, true);
    }
}
