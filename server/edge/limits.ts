/** Every limit of the edge. Times are in milliseconds, sizes in bytes. */
export const edgeLimits = {
  head_bytes: 16 * 1024,
  header_count: 100,
  /** From the first byte of a request to the end of its head. */
  header_timeout_ms: 10_000,
  /** How long a client may keep an idle connection open. */
  client_idle_ms: 60_000,
  /** A request body must deliver at least `body_window_bytes` in each window, unless the app applies back pressure. */
  body_window_ms: 30_000,
  body_window_bytes: 30 * 1024,
  /** How much a client may send ahead (pipelining) before the edge stops reading. */
  pipelined_bytes: 64 * 1024,
  /** Concurrent requests of one connection on the node path. The fast path handles requests one after the other. */
  pipelined_requests: 128,
  /** HTTP/2: concurrent open streams of one connection. */
  http2_streams: 128,
  /** How much a client may send ahead of a slow app, on one stream and on one connection. */
  stream_window_bytes: 128 * 1024,
  connection_window_bytes: 2 * 1024 * 1024,
  /** HTTP/2 stream resets that a client may send at once, and per second after that. The connection is closed above the limit (CVE-2023-44487). */
  reset_burst: 200,
  reset_rate: 20,
  /** A client that has sent FIN and accepts no bytes for this long is considered gone. */
  half_closed_ms: 1_000,
  /** How long the edge keeps reading after a rejection, so that the client receives the response and not a reset. */
  linger_ms: 2_000,
  connections: 16_384,

  /** Connecting to an app, retries included. An app that restarts is expected to be back within this time. */
  connect_timeout_ms: 5_000,
  connect_retry_ms: 50,
  connect_retry_max_ms: 400,
  /** Of several replicas: connecting to one, before another is tried. */
  replica_connect_timeout_ms: 1_000,
  /** Of several replicas: after this time without an answer to a request that may be repeated, it is checked whether the replica can be reached. */
  replica_silence_ms: 1_000,
  /** A replica that gives no answer to this many requests in a row, or refuses a connection, gets none for `replica_ejection_ms`. */
  replica_failures: 3,
  replica_ejection_ms: 2_000,
  /** Without a response head for this long, the edge answers 504. */
  response_timeout_ms: 30_000,
  /** The same for a development server. */
  dev_response_timeout_ms: 600_000,
  /** Shorter than the 5 s after which Node's own server closes an idle connection. */
  upstream_idle_ms: 4_000,
  /** A request that must not be sent twice uses only a connection that was used this recently. */
  upstream_fresh_ms: 1_000,
  upstream_idle_count: 256,
  upstream_head_bytes: 64 * 1024,
  trailer_bytes: 8 * 1024,
  /** How many interim responses (102, 103) of an app are forwarded. They are written without waiting for the client. */
  interim_responses: 16,
  /** How long `Expect: 100-continue` waits for the app's answer before the edge sends 100 itself. */
  continue_timeout_ms: 1_000,
  /** How long a request waits for a starting app. */
  start_timeout_ms: 30_000,
  drain_ms: 10_000,
  /** How long a tunnel with one closed end stays open. */
  tunnel_half_closed_ms: 30_000,

  small_read_bytes: 64 * 1024,
  large_read_bytes: 256 * 1024,
  /** Free space before the read position, so that the new response head fits in front of the body without a copy. */
  headroom_bytes: 4 * 1024,

  /** Up to this size, head and body are sent in one write. Above it, copying costs more than a second write. */
  coalesce_bytes: 16 * 1024,

  deadline_tick_ms: 250,

  cached_file_bytes: 256 * 1024,
  file_cache_bytes: 64 * 1024 * 1024,
  /** Larger files are sent uncompressed, because compressing would cost more time than it saves. */
  compress_max_bytes: 8 * 1024 * 1024,
  compress_min_bytes: 512,
  /** How long a cached file is used without checking the disk. */
  file_revalidate_ms: 1_000,
  cached_paths: 10_000,
} as const
