import java.io.*;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.*;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Opens logs as Kafka does, and appends to them. A line is: "clean" or "unclean", and the folder of a log that is
 * to be opened; or "append", a folder in which to make logs, how many, how many appends, and the file of a batch. The
 * answer is seconds: by the clock, of CPU of the one thread that did it, and how many of those were not the kernel's.
 */
public class StorageSpeed {
    static final KafkaScheduler SCHEDULER = new KafkaScheduler(1);
    static final BrokerTopicStats STATS = new BrokerTopicStats(false);
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        // What a library prints must not be taken for an answer.
        System.setOut(System.err);
        SCHEDULER.startup();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            try {
                answers.println(words[0].equals("append") ? append(words) : opening(words[1], words[0].equals("clean")));
            } catch (Exception refused) {
                refused.printStackTrace();
                answers.println(refused);
            }
            answers.flush();
        }
        SCHEDULER.shutdown();
    }

    static UnifiedLog open(String folder, boolean isClean) throws Exception {
        return UnifiedLog.create(new File(folder), new LogConfig(Map.of()), 0, 0, SCHEDULER, STATS, Time.SYSTEM, 900_000,
            new ProducerStateManagerConfig(86_400_000, false), 600_000, new LogDirFailureChannel(1), isClean, Optional.empty());
    }

    static String opening(String folder, boolean isClean) throws Exception {
        long[] begun = now();
        UnifiedLog log = open(folder, isClean);
        String spent = since(begun);
        log.close();
        return spent;
    }

    static String append(String[] words) throws Exception {
        List<UnifiedLog> logs = new ArrayList<>();
        for (int number = 0; number < Integer.parseInt(words[2]); number++) {
            Path folder = Path.of(words[1], "theirs-" + number);
            Files.createDirectories(folder);
            logs.add(open(folder.toString(), true));
        }
        ByteBuffer batch = ByteBuffer.wrap(Files.readAllBytes(Path.of(words[4])));
        long[] begun = now();
        int count = Integer.parseInt(words[3]);
        for (int done = 0; done < count; done++) {
            // The append before wrote its offset there.
            batch.putLong(0, 0);
            logs.get(done % logs.size()).appendAsLeader(MemoryRecords.readableRecords(batch.duplicate()), 0);
        }
        String spent = since(begun);
        for (UnifiedLog log : logs)
            log.close();
        return spent;
    }

    static long[] now() {
        return new long[] {System.nanoTime(), THREADS.getCurrentThreadCpuTime(), THREADS.getCurrentThreadUserTime()};
    }

    static String since(long[] begun) {
        long[] ended = now();
        return (ended[0] - begun[0]) / 1e9 + " " + (ended[1] - begun[1]) / 1e9 + " " + (ended[2] - begun[2]) / 1e9;
    }
}
