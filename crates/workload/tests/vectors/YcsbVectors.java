// Writes ../ycsb-0.17.0.txt: what the real classes of YCSB 0.17.0 answer to known random numbers.
//
// YCSB draws from ThreadLocalRandom, whose seed is a field of the thread. This program sets that field, notes what
// ThreadLocalRandom will say, sets the field again, and lets YCSB's own, unchanged class make its choice. It lies in
// YCSB's package because CoreWorkload's choosers are protected.
//
// Jars (Maven Central): site.ycsb:core:0.17.0, org.hdrhistogram:HdrHistogram:2.1.4,
// org.apache.htrace:htrace-core4:4.1.0-incubating. JDK 17:
//
//   javac -cp 'core-0.17.0.jar:HdrHistogram-2.1.4.jar:htrace-core4-4.1.0-incubating.jar' -d out YcsbVectors.java
//   java --add-opens java.base/java.lang=ALL-UNNAMED -cp 'out:core-0.17.0.jar:HdrHistogram-2.1.4.jar:htrace-core4-4.1.0-incubating.jar' \
//     site.ycsb.workloads.YcsbVectors > ../ycsb-0.17.0.txt
//
// Doubles are printed as their 64 bits in hexadecimal, longs in decimal.
package site.ycsb.workloads;

import java.lang.reflect.Field;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import site.ycsb.Utils;
import site.ycsb.generator.*;
import site.ycsb.measurements.Measurements;

public class YcsbVectors {
  static Field seedField;
  static long seed = 0x1234567;

  static void seed(long value) throws Exception {
    ThreadLocalRandom.current(); // forces the thread's own initialisation, so that it cannot come later
    seedField.setLong(Thread.currentThread(), value);
  }

  static String bits(double value) {
    return String.format("%016x", Double.doubleToRawLongBits(value));
  }

  static double field(Object object, String name) throws Exception {
    Field field = ZipfianGenerator.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.getDouble(object);
  }

  /** The next double that the generator under test will draw; leaves the seed such that it draws it. */
  static double nextUnit() throws Exception {
    seed += 0x5851F42D4C957F2DL;
    seed(seed);
    double unit = ThreadLocalRandom.current().nextDouble();
    seed(seed);
    return unit;
  }

  static CoreWorkload workload(String... properties) throws Exception {
    Properties p = new Properties();
    for (int i = 0; i < properties.length; i += 2) {
      p.setProperty(properties[i], properties[i + 1]);
    }
    Measurements.setProperties(p);
    CoreWorkload workload = new CoreWorkload();
    workload.init(p);
    return workload;
  }

  public static void main(String[] arguments) throws Exception {
    int each = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 60;
    seedField = Thread.class.getDeclaredField("threadLocalRandomSeed");
    seedField.setAccessible(true);
    System.out.println("# Answers of YCSB 0.17.0, written by vectors/YcsbVectors.java. Doubles as bits, longs in decimal.");

    System.out.println("# fnv VALUE HASH");
    for (long value : new long[] {0, 1, 2, 3, 9, 10, 99, 255, 256, 65535, 65536, 1_000_000, 59_999_999, Integer.MAX_VALUE,
        1L << 32, 9_999_999_999L, 10_000_000_000L, Long.MAX_VALUE}) {
      System.out.println("fnv " + value + " " + Utils.fnvhash64(value));
    }
    for (int i = 0; i < each; i++) {
      nextUnit();
      long value = ThreadLocalRandom.current().nextLong() >>> (1 + i % 50);
      System.out.println("fnv " + value + " " + Utils.fnvhash64(value));
    }

    System.out.println("# key RECORD INSERTORDER ZEROPADDING KEY");
    for (String order : new String[] {"hashed", "ordered"}) {
      for (String padding : new String[] {"1", "12", "19", "24"}) {
        CoreWorkload workload = workload("recordcount", "1000", "insertorder", order, "zeropadding", padding);
        for (long record : new long[] {0, 1, 7, 42, 999, 1_000_000, 59_999_999, 10_000_000_000L}) {
          System.out.println("key " + record + " " + order + " " + padding + " " + workload.buildKeyName(record));
        }
      }
    }

    System.out.println("# zeta ITEMS CONSTANT ZETAN ETA; rank ITEMS CONSTANT U ITEM (ZipfianGenerator)");
    for (long items : new long[] {1, 2, 3, 10, 1000, 300_000, 3_750_000}) {
      for (double constant : new double[] {0.5, 0.99, 1.3}) {
        ZipfianGenerator zipfian = new ZipfianGenerator(items, constant);
        System.out.println("zeta " + items + " " + bits(constant) + " " + bits(field(zipfian, "zetan")) + " "
            + bits(field(zipfian, "eta")));
        for (int i = 0; i < Math.max(1, each / 4); i++) {
          double u = nextUnit();
          System.out.println("rank " + items + " " + bits(constant) + " " + bits(u) + " " + zipfian.nextValue());
        }
      }
    }

    System.out.println("# scrambled ITEMS U ITEM (ScrambledZipfianGenerator)");
    for (long items : new long[] {1, 1000, 18_750, 60_000_000, 3_000_000_000L}) {
      ScrambledZipfianGenerator scrambled = new ScrambledZipfianGenerator(items);
      for (int i = 0; i < each; i++) {
        double u = nextUnit();
        System.out.println("scrambled " + items + " " + bits(u) + " " + scrambled.nextValue());
      }
    }

    System.out.println("# core_zipfian RECORDS OPERATIONS INSERTPROPORTION U ITEM (CoreWorkload's chooser, before it redraws)");
    for (String[] c : new String[][] {{"1000", "5000", "0.0"}, {"1000", "5000", "0.05"}, {"60000000", "10000000", "0.5"}}) {
      CoreWorkload workload = workload("recordcount", c[0], "operationcount", c[1], "insertproportion", c[2],
          "requestdistribution", "zipfian");
      for (int i = 0; i < each; i++) {
        double u = nextUnit();
        System.out.println("core_zipfian " + String.join(" ", c) + " " + bits(u) + " " + workload.keychooser.nextValue());
      }
    }

    System.out.println("# latest RECORDS INSERTED U ITEM (SkewedLatestGenerator after that many acknowledged inserts)");
    for (long records : new long[] {1, 2, 3, 1000, 300_000}) {
      AcknowledgedCounterGenerator basis = new AcknowledgedCounterGenerator(records);
      SkewedLatestGenerator latest = new SkewedLatestGenerator(basis);
      for (int i = 0, inserted = 0; i < each; i++) {
        double u = nextUnit();
        System.out.println("latest " + records + " " + inserted + " " + bits(u) + " " + latest.nextValue());
        if (i % 3 == 0) {
          basis.acknowledge(basis.nextValue());
          inserted++;
        }
      }
    }

    System.out.println("# hotspot RECORDS DATAFRACTION OPNFRACTION U LONG ITEM (CoreWorkload's chooser)");
    for (String[] c : new String[][] {{"1000", "0.2", "0.8"}, {"60000000", "0.01", "0.9"}}) {
      CoreWorkload workload = workload("recordcount", c[0], "requestdistribution", "hotspot", "hotspotdatafraction", c[1],
          "hotspotopnfraction", c[2]);
      for (int i = 0; i < each; i++) {
        double u = nextUnit();
        ThreadLocalRandom.current().nextDouble();
        long random = ThreadLocalRandom.current().nextLong();
        seed(seed);
        System.out.println("hotspot " + c[0] + " " + bits(Double.parseDouble(c[1])) + " " + bits(Double.parseDouble(c[2])) + " "
            + bits(u) + " " + random + " " + workload.keychooser.nextValue());
      }
    }

    System.out.println("# exponential RECORDS PERCENTILE FRAC U DISTANCE (CoreWorkload's chooser, as it truncates it)");
    for (String[] c : new String[][] {{"1000", "95", "0.8571428571"}, {"60000000", "90", "0.1"}}) {
      CoreWorkload workload = workload("recordcount", c[0], "requestdistribution", "exponential",
          "exponential.percentile", c[1], "exponential.frac", c[2]);
      for (int i = 0; i < each; i++) {
        double u = nextUnit();
        System.out.println("exponential " + c[0] + " " + bits(Double.parseDouble(c[1])) + " "
            + bits(Double.parseDouble(c[2])) + " " + bits(u) + " " + workload.keychooser.nextValue().intValue());
      }
    }

    System.out.println("# uniform RECORDS LONG ITEM (CoreWorkload's chooser)");
    for (String records : new String[] {"1", "1000", "60000000"}) {
      CoreWorkload workload = workload("recordcount", records, "requestdistribution", "uniform");
      for (int i = 0; i < each / 2; i++) {
        nextUnit();
        long random = ThreadLocalRandom.current().nextLong();
        seed(seed);
        System.out.println("uniform " + records + " " + random + " " + workload.keychooser.nextValue());
      }
    }

    System.out.println("# operation READ UPDATE INSERT SCAN READMODIFYWRITE U KIND (CoreWorkload's operation chooser)");
    for (String[] c : new String[][] {{"0.8", "0.2", "0", "0", "0"}, {"0.1", "0.2", "0.3", "0.25", "0.15"},
        {"1", "1", "0", "0", "1"}, {"0", "0", "0.05", "0.95", "0"}}) {
      CoreWorkload workload = workload("recordcount", "1000", "readproportion", c[0], "updateproportion", c[1],
          "insertproportion", c[2], "scanproportion", c[3], "readmodifywriteproportion", c[4]);
      for (int i = 0; i < each; i++) {
        double u = nextUnit();
        System.out.println("operation " + String.join(" ", c) + " " + bits(u) + " " + workload.operationchooser.nextString());
      }
    }

    System.out.println("# scan_uniform MIN MAX LONG LENGTH; scan_zipfian MIN MAX U LENGTH (CoreWorkload's scan length)");
    CoreWorkload uniform = workload("recordcount", "1000", "minscanlength", "5", "maxscanlength", "100");
    CoreWorkload zipfian = workload("recordcount", "1000", "minscanlength", "5", "maxscanlength", "100",
        "scanlengthdistribution", "zipfian");
    for (int i = 0; i < each; i++) {
      nextUnit();
      long random = ThreadLocalRandom.current().nextLong();
      seed(seed);
      System.out.println("scan_uniform 5 100 " + random + " " + uniform.scanlength.nextValue());
      double u = nextUnit();
      System.out.println("scan_zipfian 5 100 " + bits(u) + " " + zipfian.scanlength.nextValue());
    }
  }
}
