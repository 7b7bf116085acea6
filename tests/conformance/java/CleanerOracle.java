import java.io.*;
import java.lang.reflect.Method;
import java.util.*;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.*;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Cleans the log in a folder as Kafka does, or says what it would clean. A line is: "clean" or "look", folder,
 * first dirty offset, now, bytes of memory for the map, then pairs of an option and its value. The answer to "clean"
 * is up to where the log is clean and the milliseconds that it took, that to "look" the parts of Kafka's choice, or
 * either is what was thrown.
 */
public class CleanerOracle {
    static final StillTime TIME = new StillTime();
    static final BrokerTopicStats STATS = new BrokerTopicStats(false);
    static final KafkaScheduler SCHEDULER = new KafkaScheduler(1);

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        PrintStream answers = System.out;
        // What a library prints must not be taken for an answer.
        System.setOut(System.err);
        SCHEDULER.startup();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String answer;
            try {
                String[] words = line.split(" ");
                UnifiedLog log = open(words);
                long firstDirty = Long.parseLong(words[2]);
                answer = words[0].equals("clean") ? clean(log, firstDirty, Integer.parseInt(words[4])) : look(log, firstDirty);
                log.close();
            } catch (Exception refused) {
                refused.printStackTrace();
                answer = String.valueOf(refused).replace('\n', ' ');
            }
            answers.println(answer);
            answers.flush();
        }
    }

    static UnifiedLog open(String[] words) throws Exception {
        TIME.now = Long.parseLong(words[3]);
        Map<String, String> options = new HashMap<>(Map.of("cleanup.policy", "compact"));
        for (int at = 5; at < words.length; at += 2)
            options.put(words[at], words[at + 1]);
        UnifiedLog log = UnifiedLog.create(new File(words[1]), new LogConfig(options), 0, Long.MAX_VALUE, SCHEDULER, STATS, TIME,
            900_000, new ProducerStateManagerConfig(86_400_000, false), 600_000, new LogDirFailureChannel(1), true, Optional.empty());
        log.updateHighWatermark(log.logEndOffset());
        return log;
    }

    static String clean(UnifiedLog log, long firstDirty, int memory) throws Exception {
        var offsets = new LogToClean(log, firstDirty, Math.min(log.lastStableOffset(), log.activeSegment().baseOffset()), false);
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(memory), 512 * 1024, 64 << 20, 0.9,
            new Throttler(Double.MAX_VALUE, Long.MAX_VALUE, "cleaner-io", "bytes", Time.SYSTEM), TIME, partition -> { });
        long begun = System.nanoTime();
        long end = cleaner.doClean(offsets, TIME.now).getKey();
        return end + " " + (System.nanoTime() - begun) / 1_000_000;
    }

    /** A negative checkpoint is none. */
    static String look(UnifiedLog log, long checkpoint) throws Exception {
        Method offsets = method("cleanableOffsets", UnifiedLog.class, Optional.class, long.class);
        Object found = offsets.invoke(null, log, checkpoint < 0 ? Optional.empty() : Optional.of(checkpoint), TIME.now);
        long firstDirty = number(found, "firstDirtyOffset");
        Method delay = method("maxCompactionDelay", UnifiedLog.class, long.class, long.class);
        boolean isOverdue = (long) delay.invoke(null, log, firstDirty, TIME.now) > 0;
        var chosen = new LogToClean(log, firstDirty, number(found, "firstUncleanableDirtyOffset"), isOverdue);
        return chosen.firstDirtyOffset() + " " + chosen.firstUncleanableOffset() + " " + chosen.cleanBytes() + " "
            + chosen.cleanableBytes() + " " + (isOverdue ? 1 : 0);
    }

    static Method method(String name, Class<?>... parameters) throws Exception {
        Method found = LogCleanerManager.class.getDeclaredMethod(name, parameters);
        found.setAccessible(true);
        return found;
    }

    static long number(Object from, String name) throws Exception {
        Method found = from.getClass().getDeclaredMethod(name);
        found.setAccessible(true);
        return (long) found.invoke(from);
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
}
