import java.io.File;
import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.*;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.utils.*;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.bootstrap.*;
import org.apache.kafka.raft.*;
import org.apache.kafka.server.common.*;
import org.apache.kafka.snapshot.*;

/**
 * Writes and reads snapshots of the metadata log with Kafka's own classes, at a time that is given.
 * `write FOLDER OFFSET EPOCH TIME KRAFT_VERSION BATCH_BYTES COUNT` or `bootstrap FOLDER`.
 */
public class QuorumFiles {
    public static void main(String[] words) throws Exception {
        if (words[0].equals("bootstrap")) {
            for (ApiMessageAndVersion record : new BootstrapDirectory(words[1]).read().records())
                System.out.println(record);
            return;
        }
        long time = Long.parseLong(words[4]);
        KRaftVersion version = KRaftVersion.fromFeatureLevel(Short.parseShort(words[5]));
        RecordsSnapshotWriter.Builder builder = new RecordsSnapshotWriter.Builder()
            .setLastContainedLogTimestamp(time - 5)
            .setTime(standing(time))
            .setMaxBatchSizeBytes(Integer.parseInt(words[6]))
            .setRawSnapshotWriter(FileRawSnapshotWriter.create(Path.of(words[1]),
                new OffsetAndEpoch(Long.parseLong(words[2]), Integer.parseInt(words[3]))))
            .setKraftVersion(version);
        if (version.isReconfigSupported())
            builder.setVoterSet(Optional.of(DynamicVoters.parse(
                "1@localhost:25001:" + new Uuid(1, 2) + ",2@localhost:25002:" + new Uuid(3, 4)).toVoterSet("CONTROLLER")));
        try (RecordsSnapshotWriter<ApiMessageAndVersion> writer = builder.build(new MetadataRecordSerde())) {
            for (int number = 0; number < Integer.parseInt(words[7]); number++)
                writer.append(List.of(new ApiMessageAndVersion(
                    new FeatureLevelRecord().setName("feature-" + number).setFeatureLevel((short) number), (short) 0)));
            writer.freeze();
        }
    }

    static Time standing(long time) {
        return (Time) Proxy.newProxyInstance(Time.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "milliseconds":
                        return time;
                    case "hiResClockMs":
                        return time;
                    case "nanoseconds":
                        return time * 1000000;
                    case "timer":
                        Object span = arguments[0];
                        return Time.SYSTEM.timer(span instanceof java.time.Duration
                            ? ((java.time.Duration) span).toMillis() : (Long) span);
                    default:
                        throw new UnsupportedOperationException(method.getName());
                }
            });
    }
}
