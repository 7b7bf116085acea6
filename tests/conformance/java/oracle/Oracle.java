import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers questions about Kafka's formats with Kafka's own classes, until its input ends.
 *
 * A question and an answer look alike: a JSON object, a count, and that many runs of bytes; each
 * object and run follows its length in four bytes. An answer with "error" says what went wrong with
 * the question as a whole; what Kafka refuses is said case by case.
 */
public final class Oracle {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final int FRAME_BYTES_MAX = 1 << 30;

    record Frame(ObjectNode head, List<byte[]> blobs) {
        static Frame of(List<byte[]> blobs) {
            return new Frame(JsonNodeFactory.instance.objectNode(), blobs);
        }
    }

    private final Messages messages = new Messages();
    private final Batches batches = new Batches();

    public static void main(String[] args) throws IOException {
        var input = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        var output = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        // What a library prints must not be taken for an answer.
        System.setOut(System.err);
        var oracle = new Oracle();
        while (true) {
            Frame question;
            try {
                question = read(input);
            } catch (EOFException end) {
                return;
            }
            write(output, oracle.answer(question));
        }
    }

    private Frame answer(Frame question) {
        try {
            return dispatch(question.head(), question.blobs());
        } catch (Exception | LinkageError | StackOverflowError fault) {
            Frame answer = Frame.of(List.of());
            answer.head().put("error", text(fault));
            return answer;
        }
    }

    private Frame dispatch(ObjectNode head, List<byte[]> blobs) throws Exception {
        String command = head.path("command").asText();
        return switch (command) {
            case "schemas" -> messages.schemas();
            case "reencode" -> messages.reencode(head, blobs);
            case "random" -> messages.random(head);
            case "parse" -> batches.parse(blobs);
            case "build" -> batches.build(head);
            case "down_convert" -> batches.downConvert(head, blobs);
            default -> throw new IllegalArgumentException("no command " + command);
        };
    }

    /** What a fault says: its class and message, without the frames it came through. */
    static String text(Throwable fault) {
        Throwable cause = fault;
        while (cause instanceof java.lang.reflect.InvocationTargetException) {
            cause = cause.getCause();
        }
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    private static Frame read(DataInputStream input) throws IOException {
        byte[] json = readRun(input);
        int count = input.readInt();
        List<byte[]> blobs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            blobs.add(readRun(input));
        }
        JsonNode head = JSON.readTree(json);
        return new Frame((ObjectNode) head, blobs);
    }

    private static byte[] readRun(DataInputStream input) throws IOException {
        int length = input.readInt();
        if (length < 0 || length > FRAME_BYTES_MAX) {
            throw new IOException("a run of " + length + " bytes");
        }
        byte[] run = new byte[length];
        input.readFully(run);
        return run;
    }

    private static void write(DataOutputStream output, Frame frame) throws IOException {
        writeRun(output, JSON.writeValueAsBytes(frame.head()));
        output.writeInt(frame.blobs().size());
        for (byte[] blob : frame.blobs()) {
            writeRun(output, blob);
        }
        output.flush();
    }

    private static void writeRun(DataOutputStream output, byte[] run) throws IOException {
        output.writeInt(run.length);
        output.write(run);
    }
}
