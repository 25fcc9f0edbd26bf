/** Lets functions wait until something happens. */
function uploadBell() {
  const waiting = new Set();
  return {
    /** Waits until the next ring, or for this time. */
    wait: (ms) => new Promise((done) => {
      waiting.add(done);
      if (ms === undefined) return;
      setTimeout(() => {
        waiting.delete(done);
        done();
      }, ms);
    }),
    ring: () => {
      for (const done of waiting) done();
      waiting.clear();
    },
  };
}
