// What a Cassandra can be set to, said by its own classes: keys of cassandra.yaml with their types and old names, options of
// a table with those of its compaction strategies and compressors. Made to be compared with what iopslab keeps of it
// (crates/cassandra_model/src/known/): scripts/cassandra-settings.sh.

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.InvocationTargetException;
import java.util.*;
import java.util.stream.Collectors;

public class CassandraSettings {
    static final String BASE = "org.apache.cassandra.";
    static final TreeSet<String> lines = new TreeSet<>();

    public static void main(String[] arguments) throws Exception {
        Class<?> config = Class.forName(BASE + "config.Config", false, loader());
        keys(config, "", 0);
        for (Object option : Class.forName(BASE + "schema.TableParams$Option").getEnumConstants())
            lines.add("table " + option.toString().toLowerCase());
        for (String strategy : List.of("SizeTieredCompactionStrategy", "LeveledCompactionStrategy", "TimeWindowCompactionStrategy", "UnifiedCompactionStrategy"))
            compaction(strategy);
        for (String compressor : List.of("LZ4Compressor", "SnappyCompressor", "DeflateCompressor", "ZstdCompressor", "NoopCompressor"))
            compression(compressor);
        lines.forEach(System.out::println);
    }

    static ClassLoader loader() {
        return CassandraSettings.class.getClassLoader();
    }

    /** The fields of a class of the configuration, below a key. */
    static void keys(Class<?> type, String before, int depth) throws Exception {
        for (Field field : type.getFields()) {
            if (Modifier.isStatic(field.getModifiers()))
                continue;
            String name = before + field.getName();
            String kind = kind(field.getType());
            lines.add("key " + name + " " + kind);
            replaced(field, before, name);
            if (kind.equals("table") && depth < 2)
                keys(field.getType(), name + ".", depth + 1);
        }
    }

    /** The old names of a key: one annotation, or several of them. */
    static void replaced(Field field, String before, String name) throws Exception {
        for (var annotation : field.getAnnotations()) {
            String kind = annotation.annotationType().getSimpleName();
            if (kind.equals("Replaces"))
                old(annotation, before, name);
            if (kind.equals("ReplacesList"))
                for (Object one : (Object[]) annotation.annotationType().getMethod("value").invoke(annotation))
                    old(one, before, name);
        }
    }

    static void old(Object annotation, String before, String name) throws Exception {
        Class<?> type = ((java.lang.annotation.Annotation) annotation).annotationType();
        String old = before + type.getMethod("oldName").invoke(annotation);
        if (!old.equals(name))
            lines.add("old " + old + " " + name);
    }

    static String kind(Class<?> type) {
        String name = type.getName();
        if (type.isEnum())
            return "one-of:" + Arrays.stream(type.getEnumConstants()).map(c -> ((Enum<?>) c).name()).collect(Collectors.joining(","));
        if (name.startsWith(BASE + "config.DurationSpec$"))
            return "duration:" + (name.contains("Nanoseconds") ? "ns" : name.contains("Milliseconds") ? "ms" : name.contains("Minutes") ? "m" : "s");
        if (name.startsWith(BASE + "config.DataStorageSpec$"))
            return "size:" + (name.contains("Mebibytes") ? "MiB" : name.contains("Kibibytes") ? "KiB" : "B");
        if (name.startsWith(BASE + "config.DataRateSpec$"))
            return "rate";
        if (name.equals(BASE + "config.ParameterizedClass"))
            return "class";
        if (type.isArray() || Collection.class.isAssignableFrom(type))
            return "list";
        if (Map.class.isAssignableFrom(type))
            return "map";
        switch (type.getSimpleName()) {
            case "int": case "Integer": case "long": case "Long": return "integer";
            case "double": case "Double": case "float": case "Float": return "number";
            case "boolean": case "Boolean": return "boolean";
            case "String": return "text";
            default: return "table";
        }
    }

    /** Texts that classes have as constants: names of options are among them. */
    static Set<String> constants(Class<?>... classes) throws Exception {
        Set<String> found = new TreeSet<>();
        for (Class<?> start : classes)
            for (Class<?> type = start; type != null && type != Object.class; type = type.getSuperclass())
                for (Field field : type.getDeclaredFields())
                    if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                        field.setAccessible(true);
                        String value = (String) field.get(null);
                        if (value != null && value.matches("[a-z][a-z_0-9]*"))
                            found.add(value);
                    }
        return found;
    }

    /** The options that a strategy's own validation takes, with the kind of value that it takes. */
    static void compaction(String name) throws Exception {
        Class<?> strategy;
        try {
            strategy = Class.forName(BASE + "db.compaction." + name);
        } catch (ClassNotFoundException none) {
            // Unified compaction came with 5.0.
            return;
        }
        List<Class<?>> classes = new ArrayList<>(List.of(strategy));
        for (String options : List.of(name + "Options", "SizeTieredCompactionStrategyOptions", "unified.Controller"))
            try {
                classes.add(Class.forName(BASE + "db.compaction." + options));
            } catch (ClassNotFoundException none) {
                // It has none of its own.
            }
        Set<String> candidates = constants(classes.toArray(new Class<?>[0]));
        for (Object common : Class.forName(BASE + "schema.CompactionParams$Option").getEnumConstants())
            candidates.add(common.toString());
        candidates.remove("class");
        Method validate = strategy.getMethod("validateOptions", Map.class);
        Class<?> all = Class.forName(BASE + "schema.CompactionParams");
        Method parameters = all.getMethod("fromMap", Map.class);
        Method validateAll = all.getMethod("validate");
        for (String option : candidates) {
            // What it does not know it gives back.
            List<String> taken = new ArrayList<>();
            boolean isKnown = false;
            for (String value : List.of("7", "0.3", "1.7", "true", "word", "100MiB", "MINUTES", "MILLISECONDS", "NONE", "N", "L4", "T4")) {
                try {
                    Map<?, ?> left = (Map<?, ?>) validate.invoke(null, new HashMap<>(Map.of(option, value)));
                    if (!left.containsKey(option)) {
                        isKnown = true;
                        // What all strategies have is checked elsewhere.
                        validateAll.invoke(parameters.invoke(null, Map.of("class", name, option, value)));
                        taken.add(value);
                    }
                } catch (InvocationTargetException refused) {
                    isKnown = true;
                }
            }
            if (isKnown)
                lines.add("compaction " + name + " " + option + " " + kindOf(taken));
        }
    }

    static String kindOf(List<String> taken) {
        if (taken.contains("word"))
            return "text";
        if (taken.equals(List.of("true")))
            return "boolean";
        if (taken.contains("0.3") || taken.contains("1.7"))
            return "number";
        if (taken.equals(List.of("7")))
            return "integer";
        return "text";
    }

    /** The options that a compressor says it has. */
    static void compression(String name) throws Exception {
        for (Field field : Class.forName(BASE + "schema.CompressionParams").getDeclaredFields())
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                field.setAccessible(true);
                String value = (String) field.get(null);
                if (List.of("class", "chunk_length_in_kb", "enabled", "min_compress_ratio", "max_compressed_length").contains(value))
                    lines.add("compression " + name + " " + value);
            }
        Class<?> type = Class.forName(BASE + "io.compress." + name);
        Object compressor = type.getMethod("create", Map.class).invoke(null, Map.of());
        for (Object option : (Collection<?>) type.getMethod("supportedOptions").invoke(compressor))
            lines.add("compression " + name + " " + option);
    }
}
