DROP TABLE camera_settings;
