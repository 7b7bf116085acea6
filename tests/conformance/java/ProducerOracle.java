import java.io.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;
import java.util.stream.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.log.remote.metadata.storage.generated.ProducerSnapshot;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.*;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Carries out one command a line on a log of Kafka's own, and answers each with a line: what came of
 * it, then all that the log knows of producers. "epochs ..." commands go to a leader epoch cache.
 */
public class ProducerOracle {
    static final File HOME = temporary();
    static final StillTime TIME = new StillTime();
    static final BrokerTopicStats STATS = new BrokerTopicStats(false);
    static UnifiedLog log;
    static LeaderEpochFileCache epochs;
    static List<VerificationGuard> guards;
    static int folders = 0;

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        // What a library prints must not be taken for an answer.
        System.setOut(System.err);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            answers.println(words[0].equals("epochs") ? epochs(words) : answer(words) + state());
            answers.flush();
        }
        delete(HOME);
    }

    static String answer(String[] words) throws Exception {
        long[] n = Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray();
        long end = log == null ? 0 : log.logEndOffset();
        try {
            switch (words[0]) {
                case "new" -> open((int) n[0], n[1] != 0);
                case "time" -> TIME.now = n[0];
                case "client" -> {
                    MemoryRecords records = data(0, n[0], n[1], (int) n[2], (int) n[3], n[4] != 0, n[5], 0);
                    LogAppendInfo done = log.appendAsLeader(records, 0, AppendOrigin.CLIENT, RequestLocal.noCaching(),
                        guards.get((int) n[6]), (short) 2);
                    if (log.logEndOffset() == end)
                        return "duplicate " + done.firstOffset() + " " + done.lastOffset() + " " + done.logAppendTime();
                }
                case "offsets" -> {
                    MemoryRecords records = data(0, n[0], n[1], 0, (int) n[2], n[3] != 0, n[4], 0);
                    log.appendAsLeader(records, 0, AppendOrigin.COORDINATOR, RequestLocal.noCaching(),
                        guards.get((int) n[5]), (short) 2);
                }
                case "marker" -> log.appendAsLeader(marker(0, n), 0, AppendOrigin.COORDINATOR,
                    RequestLocal.noCaching(), VerificationGuard.SENTINEL, (short) n[5]);
                case "copy" -> log.appendAsFollower(
                    data(end, n[0], n[1], (int) n[2], (int) n[3], n[4] != 0, n[5], 0), 0);
                case "copymarker" -> log.appendAsFollower(marker(end, n), 0);
                case "verify" -> {
                    VerificationGuard guard = log.maybeStartTransactionVerification(n[0], (int) n[1], (short) n[2], n[3] != 0);
                    if (!guards.contains(guard)) guards.add(guard);
                    return "guard " + guards.indexOf(guard);
                }
                case "hw" -> log.updateHighWatermark(n[0]);
                case "start" -> log.maybeIncrementLogStartOffset(n[0], LogStartOffsetIncrementReason.ClientRecordDeletion);
                case "roll" -> log.roll();
                case "truncate" -> {
                    log.truncateTo(n[0]);
                    // Only now does it take notice that its oldest transaction may be another one.
                    log.updateHighWatermark(log.highWatermark());
                }
                case "expire" -> log.removeExpiredProducers(TIME.now);
                case "snapshots" -> {
                    return snapshots();
                }
                default -> throw new IllegalArgumentException(words[0]);
            }
            return "ok";
        } catch (ApiException refused) {
            return Errors.forException(refused).name();
        }
    }

    static void open(int expirationMs, boolean mustVerify) throws IOException {
        if (log != null) {
            File before = log.dir();
            log.close();
            delete(before);
            NoScheduler.LATER.getQueue().clear();
        }
        File folder = new File(HOME, "t" + folders++ + "-0");
        folder.mkdir();
        TIME.now = 0;
        guards = new ArrayList<>(List.of(VerificationGuard.SENTINEL));
        LogConfig config = new LogConfig(Map.of("segment.index.bytes", "4096", "message.timestamp.type", "CreateTime",
            "message.timestamp.after.max.ms", String.valueOf(Long.MAX_VALUE)));
        log = UnifiedLog.create(folder, config, 0, 0, new NoScheduler(), STATS, TIME, 900_000,
            new ProducerStateManagerConfig(expirationMs, mustVerify), 600_000, new LogDirFailureChannel(1), true,
            Optional.empty());
    }

    static MemoryRecords data(long offset, long producer, long epoch, int sequence, int count, boolean inTransaction,
                              long timestamp, int leaderEpoch) {
        SimpleRecord[] records = new SimpleRecord[count];
        Arrays.setAll(records, one -> new SimpleRecord(timestamp, new byte[0]));
        return inTransaction
            ? MemoryRecords.withTransactionalRecords(offset, Compression.NONE, producer, (short) epoch, sequence, leaderEpoch, records)
            : MemoryRecords.withIdempotentRecords(offset, Compression.NONE, producer, (short) epoch, sequence, leaderEpoch, records);
    }

    static MemoryRecords marker(long offset, long[] n) {
        ControlRecordType type = n[3] != 0 ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
        return MemoryRecords.withEndTransactionMarker(offset, n[4], 0, n[0], (short) n[1],
            new EndTransactionMarker(type, (int) n[2]));
    }

    /** The files themselves, read by their schema. */
    static String snapshots() throws IOException {
        StringJoiner text = new StringJoiner(" ");
        for (String name : new TreeSet<>(List.of(log.dir().list((folder, name) -> name.endsWith(".snapshot"))))) {
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(log.dir().toPath().resolve(name)));
            var snapshot = new ProducerSnapshot(new ByteBufferAccessor(bytes), bytes.getShort());
            text.add(Long.parseLong(name.substring(0, 20)) + ":" + snapshot.producerEntries().stream()
                .sorted(Comparator.comparingLong(ProducerSnapshot.ProducerEntry::producerId))
                .map(one -> one.producerId() + "," + one.epoch() + "," + one.lastSequence() + "," + one.lastOffset()
                    + "," + one.offsetDelta() + "," + one.timestamp() + "," + one.coordinatorEpoch() + ","
                    + one.currentTxnFirstOffset())
                .collect(Collectors.joining(";")));
        }
        return text.toString();
    }

    static String state() {
        ProducerStateManager known = log.producerStateManager();
        StringBuilder text = new StringBuilder(" | end " + known.mapEndOffset() + " unstable "
            + known.firstUnstableOffset().map(one -> one.messageOffset).orElse(-1L) + " undecided "
            + known.firstUndecidedOffset().orElse(-1L) + " stable " + log.lastStableOffset() + " late "
            + (known.hasLateTransaction(TIME.now) ? 1 : 0));
        for (var one : new TreeMap<>(known.activeProducers()).values()) {
            text.append(" | " + one.producerId() + " epoch " + one.producerEpoch() + " coordinator "
                + one.coordinatorEpoch() + " at " + one.lastTimestamp() + " open "
                + one.currentTxnFirstOffset().orElse(-1) + " batches");
            for (BatchMetadata batch : one.batchMetadata())
                text.append(" " + batch.firstSeq() + "-" + batch.lastSeq() + "@" + batch.firstOffset() + "-"
                    + batch.lastOffset() + "," + batch.timestamp());
        }
        text.append(" | aborted");
        for (AbortedTxn one : log.collectAbortedTransactions(0, log.logEndOffset()))
            text.append(" " + one.producerId() + "@" + one.firstOffset() + "-" + one.lastOffset() + "<" + one.lastStableOffset());
        return text.toString();
    }

    static String epochs(String[] words) throws IOException {
        long[] n = Arrays.stream(words).skip(2).mapToLong(Long::parseLong).toArray();
        String said = switch (words[1]) {
            case "new" -> {
                File folder = new File(HOME, "epochs" + folders++);
                folder.mkdir();
                epochs = new LeaderEpochFileCache(new TopicPartition("t", 0),
                    new LeaderEpochCheckpointFile(LeaderEpochCheckpointFile.newFile(folder), new LogDirFailureChannel(1)), new NoScheduler());
                yield "";
            }
            case "assign" -> { epochs.assign((int) n[0], n[1]); yield ""; }
            case "end" -> { epochs.truncateFromEndAsyncFlush(n[0]); yield ""; }
            case "start" -> { epochs.truncateFromStartAsyncFlush(n[0]); yield ""; }
            case "ask" -> epochs.endOffsetFor((int) n[0], n[1]).toString().replace('=', '@');
            case "at" -> String.valueOf(epochs.epochForOffset(n[0]).orElse(-1));
            case "near" -> epochs.previousEpoch((int) n[0]).orElse(-1) + "<"
                + epochs.epochEntry((int) n[0]).map(EpochEntry::startOffset).orElse(-1L) + "<"
                + epochs.nextEpoch((int) n[0]).orElse(-1);
            case "part" -> entries(epochs.epochEntriesInRange(n[0], n[1]));
            default -> throw new IllegalArgumentException(words[1]);
        };
        return said + " | " + entries(epochs.epochEntries());
    }

    static String entries(List<EpochEntry> entries) {
        return entries.stream().map(one -> one.epoch() + "@" + one.startOffset()).collect(Collectors.joining(" "));
    }

    static File temporary() {
        try {
            return Files.createTempDirectory("producers").toFile();
        } catch (IOException reason) {
            throw new UncheckedIOException(reason);
        }
    }

    static void delete(File folder) throws IOException {
        try (Stream<Path> paths = Files.walk(folder.toPath())) {
            paths.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    /** A clock that stands until it is set. */
    static class StillTime implements Time {
        volatile long now = 0;

        public long milliseconds() {
            return now;
        }

        public long nanoseconds() {
            return now * 1_000_000;
        }

        public void sleep(long ms) {
            now += ms;
        }

        public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
            throw new UnsupportedOperationException();
        }
    }

    /** Nothing happens later than in a day, though a log wants to have something to cancel. */
    static class NoScheduler implements Scheduler {
        static final ScheduledThreadPoolExecutor LATER = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });

        public void startup() {
        }

        public void shutdown() {
        }

        public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            return LATER.schedule(() -> { }, 1, TimeUnit.DAYS);
        }

        public void resizeThreadPool(int size) {
        }
    }
}
