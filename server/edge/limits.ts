/** Every number of the edge, once. Times in milliseconds, sizes in bytes. */
export const limits = {
  head_bytes: 16 * 1024,
  header_count: 100,
  /** From the first byte of a request to the end of its head. */
  header_timeout_ms: 10_000,
  /** How long a client may keep a connection open without asking for anything. */
  client_idle_ms: 60_000,
  /** A request body has to bring at least `body_window_bytes` in each window, unless the app itself is what is slow. */
  body_window_ms: 30_000,
  body_window_bytes: 30 * 1024,
  /** What a client may send ahead (pipelined) before we stop reading from it. */
  pipelined_bytes: 64 * 1024,
  /** Requests of one connection that may be under way at once (ordinary path; the plain one takes them in turn). */
  pipelined_requests: 128,
  /** HTTP/2: streams of one connection that may be open at once. */
  http2_streams: 128,
  /** What a client may send ahead of an app that is slow to take it: on one stream, and on all of a connection. */
  stream_window_bytes: 128 * 1024,
  connection_window_bytes: 2 * 1024 * 1024,
  /** Streams that a client may open and reset at once, and in each second from then on; past it its connection is closed (CVE-2023-44487). */
  reset_burst: 200,
  reset_rate: 20,
  /** A client that has sent FIN and gets no byte for so long is taken for gone. */
  half_closed_ms: 1_000,
  /** After a refusal: how long we go on reading, so that the client sees our answer and not a reset. */
  linger_ms: 2_000,
  connections: 16_384,

  /** Connecting to an app, retries included: an app that restarts is back within it. */
  connect_timeout_ms: 5_000,
  connect_retry_ms: 50,
  connect_retry_max_ms: 400,
  /** Without an answer's head for so long: 504. */
  response_timeout_ms: 30_000,
  /** Shorter than the 5 s after which Node's own server closes an idle connection. */
  upstream_idle_ms: 4_000,
  /** A request that must not be sent twice takes only a connection that was used this recently. */
  upstream_fresh_ms: 1_000,
  upstream_idle_count: 256,
  upstream_head_bytes: 64 * 1024,
  trailer_bytes: 8 * 1024,
  /** So many interim answers (102, 103) of an app go on to the client; they are written without waiting for it. */
  interim_responses: 16,
  /** How long a client's `Expect: 100-continue` waits for the app's word before we give ours. */
  continue_timeout_ms: 1_000,
  /** How long a request waits on an app that is just starting. */
  start_timeout_ms: 30_000,
  drain_ms: 10_000,
  /** A tunnel of which one end is closed. */
  tunnel_half_closed_ms: 30_000,

  small_read_bytes: 64 * 1024,
  large_read_bytes: 256 * 1024,
  /** Free room before what is read, so that an answer's new head fits in front of its body without a copy. */
  headroom_bytes: 4 * 1024,

  /** A body that is there as a whole goes out in one piece with its head up to this; copying more costs more than a second write. */
  coalesce_bytes: 16 * 1024,

  deadline_tick_ms: 250,

  cached_file_bytes: 256 * 1024,
  file_cache_bytes: 64 * 1024 * 1024,
  /** Above this a file is sent as it is: compressing it would cost more than the line saves. */
  compress_max_bytes: 8 * 1024 * 1024,
  compress_min_bytes: 512,
  /** How long a file in memory is taken for current without a look at the disk. */
  file_revalidate_ms: 1_000,
  cached_paths: 10_000,
} as const
