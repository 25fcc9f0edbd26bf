DROP TABLE security_events;
DROP TABLE setup_links;
