import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/**
 * Prints what java.util.Properties makes of files: a line each, hex of the file, then hex of the
 * UTF-16 of each key and value, or "refused". Reads hex of files from its standard input; with the
 * argument "store" it reads keys and values instead and prints hex of the file.
 */
public class PropertiesOracle {
    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine())
            System.out.println(line + " -> " + (arguments.length > 0 ? stored(line) : loaded(line)));
    }

    static String loaded(String line) throws IOException {
        Properties properties = new Properties();
        try {
            properties.load(new ByteArrayInputStream(HexFormat.of().parseHex(line)));
        } catch (IllegalArgumentException refused) {
            return "refused";
        }
        List<String> pairs = new ArrayList<>();
        properties.forEach((key, value) -> pairs.add(hex((String) key) + "=" + hex((String) value)));
        Collections.sort(pairs);
        return String.join(" ", pairs);
    }

    static String stored(String line) throws IOException {
        Properties properties = new Properties();
        String[] halves = line.split("=", -1);
        properties.setProperty(text(halves[0]), text(halves[1]));
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        properties.store(output, null);
        String[] lines = output.toString(StandardCharsets.ISO_8859_1).split("\n", 2);
        return HexFormat.of().formatHex(lines[1].getBytes(StandardCharsets.ISO_8859_1));
    }

    static String hex(String text) {
        StringBuilder hex = new StringBuilder();
        for (char unit : text.toCharArray()) hex.append(String.format("%04x", (int) unit));
        return hex.toString();
    }

    static String text(String hex) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < hex.length(); at += 4)
            text.append((char) Integer.parseInt(hex.substring(at, at + 4), 16));
        return text.toString();
    }
}
