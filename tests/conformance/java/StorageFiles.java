import java.io.*;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.metadata.properties.*;
import org.apache.kafka.raft.FileQuorumStateStore;
import org.apache.kafka.raft.generated.QuorumStateData;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.log.remote.storage.*;
import org.apache.kafka.snapshot.Snapshots;
import org.apache.kafka.storage.internals.checkpoint.*;
import org.apache.kafka.storage.internals.log.*;

/**
 * Reads, writes and names the small files of a log directory with Kafka's own classes. Each line of
 * the standard input is a question, its words separated by tabs: `read KIND PATH`, `write KIND PATH
 * VALUE...`, or one about names. Each answer is a line: `ok` and what was found, or `refused`.
 */
public class StorageFiles {
    static final LogDirFailureChannel FAILURES = new LogDirFailureChannel(1 << 20);

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String answer;
            try {
                answer = "ok " + answer(line.split("\t", -1));
            } catch (Throwable refused) {
                answer = "refused";
            }
            System.out.println(answer);
        }
    }

    static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "read":
                return read(words[1], new File(words[2]));
            case "write":
                write(words[1], new File(words[2]), Arrays.copyOfRange(words, 3, words.length));
                return "";
            case "topic":
                Topic.validate(words[1]);
                return "";
            case "collision":
                return "" + Topic.hasCollision(words[1], words[2]);
            case "folder_names":
                TopicPartition partition = partition(words[1]);
                return String.join(" ", LocalLog.logDirName(partition), LocalLog.logDeleteDirName(partition),
                    LocalLog.logFutureDirName(partition), LocalLog.logStrayDirName(partition));
            case "folder":
                return shown(LocalLog.parseTopicPartitionName(new File(words[1])));
            case "file_names":
                return fileNames(Long.parseLong(words[1]));
            case "snapshot_name":
                return Snapshots.filenameFromSnapshotId(new OffsetAndEpoch(Long.parseLong(words[1]), Integer.parseInt(words[2])));
            case "snapshot":
                return Snapshots.parse(Path.of(words[1])).map(found -> found.snapshotId().offset() + " "
                    + found.snapshotId().epoch() + " " + found.partial() + " " + found.deleted()).orElse("none");
            case "constant":
                java.lang.reflect.Field constant = Class.forName(words[1]).getDeclaredField(words[2]);
                constant.setAccessible(true);
                return (String) constant.get(null);
            case "remote_index_name":
                return remoteIndexName(Long.parseLong(words[1]), Uuid.fromString(words[2]));
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    static String read(String kind, File file) throws Exception {
        switch (kind) {
            case "offsets":
                return new OffsetCheckpointFile(file, FAILURES).read().entrySet().stream()
                    .map(entry -> shown(entry.getKey()) + " " + entry.getValue()).sorted().collect(Collectors.joining(","));
            case "epochs":
                return new LeaderEpochCheckpointFile(file, FAILURES).read().stream()
                    .map(entry -> entry.epoch() + " " + entry.startOffset()).collect(Collectors.joining(","));
            case "meta":
                MetaProperties meta = new MetaProperties.Builder(PropertiesUtils.readPropertiesFile(file.getPath())).build();
                return meta.version().number() + " " + meta.clusterId().map(StorageFiles::hex).orElse("-") + " "
                    + (meta.nodeId().isPresent() ? meta.nodeId().getAsInt() : "-") + " "
                    + meta.directoryId().map(Uuid::toString).orElse("-");
            case "partition":
                return new PartitionMetadataFile(file, FAILURES).read().topicId().toString();
            case "clean":
                OptionalLong epoch = new CleanShutdownFileHandler(file.getParent()).read();
                return epoch.isPresent() ? "" + epoch.getAsLong() : "-";
            case "quorum":
                Method method = FileQuorumStateStore.class.getDeclaredMethod("readStateFromFile", File.class);
                method.setAccessible(true);
                return shown((QuorumStateData) method.invoke(new FileQuorumStateStore(file), file));
            case "producers":
                return ProducerStateManager.readSnapshot(file).stream().map(StorageFiles::shown).collect(Collectors.joining(","));
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    static void write(String kind, File file, String[] values) throws Exception {
        switch (kind) {
            case "offsets":
                Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
                for (String value : values) offsets.put(partition(value), Long.parseLong(value.split(" ")[2]));
                new OffsetCheckpointFile(file, FAILURES).write(offsets);
                break;
            case "epochs":
                new LeaderEpochCheckpointFile(file, FAILURES).write(Arrays.stream(values).map(value -> value.split(" "))
                    .map(pair -> new EpochEntry(Integer.parseInt(pair[0]), Long.parseLong(pair[1]))).toList());
                break;
            case "meta":
                MetaProperties.Builder meta = new MetaProperties.Builder()
                    .setVersion(MetaPropertiesVersion.fromNumberString(values[0]));
                if (!values[1].equals("-")) meta.setClusterId(values[1]);
                if (!values[2].equals("-")) meta.setNodeId(Integer.parseInt(values[2]));
                if (!values[3].equals("-")) meta.setDirectoryId(Uuid.fromString(values[3]));
                PropertiesUtils.writePropertiesFile(meta.build().toProperties(), file.getPath(), true);
                break;
            case "partition":
                PartitionMetadataFile metadata = new PartitionMetadataFile(file, FAILURES);
                metadata.record(Uuid.fromString(values[0]));
                metadata.maybeFlush();
                break;
            case "clean":
                new CleanShutdownFileHandler(file.getParent()).write(Long.parseLong(values[0]));
                break;
            case "quorum":
                writeQuorumState(file, values);
                break;
            case "producers":
                Map<Long, ProducerStateEntry> producers = new LinkedHashMap<>();
                for (String value : values) add(producers, value.split(" "));
                ProducerStateManager.writeSnapshot(file, producers, true);
                break;
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    /** Voters are separated by commas; `-` for them is null. */
    static void writeQuorumState(File file, String[] values) throws Exception {
        QuorumStateData state = new QuorumStateData().setClusterId(values[1])
            .setLeaderId(Integer.parseInt(values[2])).setLeaderEpoch(Integer.parseInt(values[3]))
            .setVotedId(Integer.parseInt(values[4])).setVotedDirectoryId(Uuid.fromString(values[5]))
            .setAppliedOffset(Long.parseLong(values[6]));
        state.setCurrentVoters(values[7].equals("-") ? null : Arrays.stream(values[7].split(","))
            .filter(voter -> !voter.isEmpty())
            .map(voter -> new QuorumStateData.Voter().setVoterId(Integer.parseInt(voter))).toList());
        Method method = FileQuorumStateStore.class
            .getDeclaredMethod("writeElectionStateToFile", File.class, QuorumStateData.class, short.class);
        method.setAccessible(true);
        method.invoke(new FileQuorumStateStore(file), file, state, Short.parseShort(values[0]));
    }

    /** An entry in the order of its fields in the file. */
    static void add(Map<Long, ProducerStateEntry> producers, String[] words) throws Exception {
        long id = Long.parseLong(words[0]);
        short epoch = Short.parseShort(words[1]);
        long timestamp = Long.parseLong(words[5]);
        long first = Long.parseLong(words[7]);
        ProducerStateEntry entry = new ProducerStateEntry(id, epoch, Integer.parseInt(words[6]), timestamp,
            first < 0 ? OptionalLong.empty() : OptionalLong.of(first));
        Method method = ProducerStateEntry.class
            .getDeclaredMethod("addBatch", short.class, int.class, long.class, int.class, long.class);
        method.setAccessible(true);
        long last = Long.parseLong(words[3]);
        if (last >= 0) method.invoke(entry, epoch, Integer.parseInt(words[2]), last, Integer.parseInt(words[4]), timestamp);
        producers.put(id, entry);
    }

    static String shown(ProducerStateEntry entry) {
        try {
            Method sequence = ProducerStateEntry.class.getDeclaredMethod("lastSeq");
            Method delta = ProducerStateEntry.class.getDeclaredMethod("lastOffsetDelta");
            sequence.setAccessible(true);
            delta.setAccessible(true);
            return entry.producerId() + " " + entry.producerEpoch() + " " + sequence.invoke(entry) + " "
                + entry.lastDataOffset() + " " + delta.invoke(entry) + " " + entry.lastTimestamp() + " "
                + entry.coordinatorEpoch() + " " + entry.currentTxnFirstOffset().orElse(-1);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static String shown(QuorumStateData state) {
        String voters = state.currentVoters() == null ? "-" : state.currentVoters().stream()
            .map(voter -> "" + voter.voterId()).collect(Collectors.joining(","));
        return String.join(" ", hex(state.clusterId()), "" + state.leaderId(), "" + state.leaderEpoch(),
            "" + state.votedId(), "" + state.votedDirectoryId(), "" + state.appliedOffset(), voters);
    }

    static String shown(TopicPartition partition) {
        return partition.topic() + " " + partition.partition();
    }

    static TopicPartition partition(String text) {
        String[] words = text.split(" ");
        return new TopicPartition(words[0], Integer.parseInt(words[1]));
    }

    static String remoteIndexName(long offset, Uuid id) throws Exception {
        RemoteLogSegmentId segment = new RemoteLogSegmentId(new TopicIdPartition(id, 0, "t"), id);
        RemoteLogSegmentMetadata metadata =
            new RemoteLogSegmentMetadata(segment, offset, offset, 0, 0, 0, 1, Map.of(0, offset));
        Method method = RemoteIndexCache.class
            .getDeclaredMethod("remoteOffsetIndexFileName", RemoteLogSegmentMetadata.class);
        method.setAccessible(true);
        return (String) method.invoke(null, metadata);
    }

    static String fileNames(long offset) {
        File folder = new File("f");
        return Stream.of(LogFileUtils.logFile(folder, offset), LogFileUtils.offsetIndexFile(folder, offset),
                LogFileUtils.timeIndexFile(folder, offset), LogFileUtils.transactionIndexFile(folder, offset),
                LogFileUtils.producerSnapshotFile(folder, offset),
                LogFileUtils.logFile(folder, offset, LogFileUtils.DELETED_FILE_SUFFIX),
                LogFileUtils.offsetIndexFile(folder, offset, LogFileUtils.CLEANED_FILE_SUFFIX),
                LogFileUtils.timeIndexFile(folder, offset, LogFileUtils.SWAP_FILE_SUFFIX))
            .map(File::getName).collect(Collectors.joining(" "));
    }

    static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_16BE)) + ".";
    }
}
