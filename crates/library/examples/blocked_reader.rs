//! An OCR worker for tests: the test decides when a photo has been read.
//!
//! Arguments: the address of the test, and the number of bytes of memory that the worker needs for a photo. The worker
//! connects to the test for each photo. It has read the photo when the test closes the connection.
#![expect(clippy::unwrap_used, reason = "a test program may panic")]

use std::{
    fs::File,
    io::{Read as _, Write as _, stdin, stdout},
    net::TcpStream,
    os::fd::AsFd as _,
    process::exit,
};

use serde_json::{Value, json};

fn main() {
    let mut args = std::env::args().skip(1);
    let (test, memory_bytes) = (args.next().unwrap(), args.next().unwrap().parse::<u64>().unwrap());
    let mut service = Service {
        input: stdin().as_fd().try_clone_to_owned().unwrap().into(),
        output: stdout().as_fd().try_clone_to_owned().unwrap().into(),
    };
    service.send(&json!({
        "protocol": 4,
        "decoder_version": media::DECODER_VERSION,
        "protections": { "files": false, "system_calls": false, "capabilities": false, "limits": false },
        "ocr_status": {
            "ready": { "version": "9.9.9", "languages": ["eng"], "missing": [], "installed": ["eng"] }
        },
    }));
    loop {
        let request = service.receive();
        service.bytes(request["file_bytes"].as_u64().unwrap());
        service.send(&json!({ "picture": { "upright_size": [30, 20], "memory_bytes": memory_bytes } }));
        service.receive();
        let mut connection = TcpStream::connect(&test).unwrap();
        connection.read_to_end(&mut Vec::new()).unwrap();
        service.send(&json!({ "analyzed": { "text": "these words were read" } }));
    }
}

struct Service {
    input: File,
    output: File,
}

impl Service {
    fn send(&mut self, message: &Value) {
        let json = message.to_string();
        self.output.write_all(&u32::try_from(json.len()).unwrap().to_le_bytes()).unwrap();
        self.output.write_all(json.as_bytes()).unwrap();
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        if self.input.read_exact(&mut bytes).is_err() {
            exit(0);
        }
        bytes
    }

    fn receive(&mut self) -> Value {
        let length = self.bytes(4);
        let length = u32::from_le_bytes(length.try_into().unwrap());
        serde_json::from_slice(&self.bytes(length.into())).unwrap()
    }
}
