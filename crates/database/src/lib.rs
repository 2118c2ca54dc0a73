//! Cassandra: distribution, life cycle, driver.
