import java.io.*;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.image.*;
import org.apache.kafka.image.writer.*;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Replays the records of a metadata log with Kafka's own image. Each line is one command, each answer
 * one line: "new"; "replay" with records in hexadecimal; "write" with a level of metadata.version,
 * answered with the records of a snapshot; "local" with a broker, answered with what changed for it
 * since "replay" was last followed by "apply".
 */
public class MetadataOracle {
    static final MetadataRecordSerde SERDE = MetadataRecordSerde.INSTANCE;
    static MetadataImage image = MetadataImage.EMPTY;
    static MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        System.setOut(System.err);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            answers.println(answer(words));
            answers.flush();
        }
    }

    static String answer(String[] words) {
        switch (words[0]) {
            case "new" -> image = MetadataImage.EMPTY;
            case "replay" -> {
                for (String word : List.of(words).subList(1, words.length)) {
                    ByteBuffer data = ByteBuffer.wrap(HexFormat.of().parseHex(word));
                    delta.replay(SERDE.read(new ByteBufferAccessor(data), data.remaining()).message());
                }
                return "ok";
            }
            case "apply" -> image = delta.apply(MetadataProvenance.EMPTY);
            case "write" -> {
                return written(MetadataVersion.fromFeatureLevel(Short.parseShort(words[1])));
            }
            case "local" -> {
                return local(Integer.parseInt(words[1]));
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        delta = new MetadataDelta.Builder().setImage(image).build();
        return "ok";
    }

    static String written(MetadataVersion level) {
        List<String> records = new ArrayList<>();
        List<String> lost = new ArrayList<>();
        ImageWriterOptions options = new ImageWriterOptions.Builder(image)
            .setMetadataVersion(level)
            // Kafka's own options would keep them at a level that cannot say them, and fail.
            .setEligibleLeaderReplicasEnabled(image.features().isElrEnabled() && level.isElrSupported())
            .setLossHandler(one -> lost.add(one.getMessage())).build();
        image.write(new ImageWriter() {
            public void write(ApiMessageAndVersion record) {
                records.add(hex(record));
            }
            public void close(boolean complete) { }
        }, options);
        return lost.size() + " " + String.join(" ", records);
    }

    static String hex(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer data = ByteBuffer.allocate(SERDE.recordSize(record, cache));
        SERDE.write(record, cache, new ByteBufferAccessor(data));
        return HexFormat.of().formatHex(data.array());
    }

    static String local(int broker) {
        if (delta.topicsDelta() == null) return "deleted elected leading following";
        LocalReplicaChanges changes = delta.topicsDelta().localChanges(broker);
        return "deleted" + sorted(changes.deletes().stream().map(Object::toString))
            + " elected" + sorted(changes.electedLeaders().keySet().stream().map(Object::toString))
            + " leading" + sorted(changes.leaders().keySet().stream().map(Object::toString))
            + " following" + sorted(changes.followers().keySet().stream().map(Object::toString));
    }

    static String sorted(Stream<String> names) {
        return names.sorted().map(one -> " " + one).collect(Collectors.joining());
    }
}
