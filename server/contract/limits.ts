/** All numbers of the contract. */
export const limits = {
  page: { min: 1, max: 100, default: 50 },
  name: { min: 1, max: 200 },
  branch: { min: 1, max: 200 },
  node_version: { min: 1, max: 20 },
  command: { min: 1, max: 500 },
  root_directory: { min: 1, max: 500 },
  memory_mb: { min: 64, max: 1024, default: 512 },
  runtime_log_lines: { min: 20, max: 2000, default: 200 },
  body_bytes: 1024 * 1024,
  /** Limits of an archive. `name_bytes` applies to each path segment, `path_bytes` to the whole path. */
  upload: { packed_bytes: 250 * 2 ** 20, unpacked_bytes: 2 ** 30, entries: 100_000, ratio: 200, name_bytes: 255, path_bytes: 1024, depth: 64 },
  build_log_bytes: 1024 * 1024,
  log_line_bytes: 16 * 1024,
  stream_backlog_bytes: 4 * 1024 * 1024,
  /** Characters of a search, lines of a page, and text that is read for one page. */
  log_search: { query: 200, lines: 500, page_bytes: 32 * 2 ** 20 },
  stream_comment_ms: 15_000,
  rate: { window_ms: 60_000, authenticated: 300, anonymous: 30 },
  env_var_key: { min: 1, max: 200 },
  env_var_value: 10_000,
  env_vars: { min: 1, max: 200 },
  purge_tags: { min: 1, max: 50 },
  purge_tag: { min: 1, max: 128 },
  purge_urls: { min: 1, max: 100 },
  purge_url_bytes: 4096,
  token_name: { min: 1, max: 100 },
  token_days: { min: 1, max: 365 },
  /** Length of an Idempotency-Key, and how long its first response is kept. */
  idempotency: { key: { min: 1, max: 255 }, retention_ms: 24 * 3600_000 },
  hostname: { min: 3, max: 253 },
  drain_ms: 10_000,
  /** `after_s`: idle time after which an app that is not always warm sleeps. `wake_ms`: maximum time a request waits for the wake. */
  sleep: { after_s: 15 * 60, frozen_s: 60 * 60, frozen_budget_mb: 2048, wake_ms: 30_000 },
  health_check_ms: 60_000,
  health_path: { max: 300, default: '/' },
  health_timeout_s: { min: 5, max: 600, default: 60 },
  health_interval_s: { min: 1, max: 60 },
  /** `default`: cores of an app without its own limit. */
  cpu: { min: 0.1, max: 256, default: 1 },
  /** Open previews of pull requests per project, the newest pull requests that are watched, and commits of production in which a merge is found. */
  pull_requests: { previews: 10, watched: 1000, history: 200 },
  /** Number of patterns, and characters of each. */
  /** Apps of a source that are planned as services. */
  apps: 20,
  watch_paths: { count: 50, length: 200 },
  /** Labels of a node, and of those that a project asks for. */
  node_labels: 10,
  /** Additional ports of a service with an address. */
  public_ports: 10,
  /** Of one service. */
  replicas: { min: 1, max: 20, default: 1 },
  /**
   * `tolerance`: the relative difference from the target that changes nothing. The load is averaged over `averaging_window_ms`. Fewer replicas run once
   * the load has asked for no more during `stabilization_window_ms`. `decisions`: kept per project.
   */
  autoscaling: {
    target_concurrency: { min: 1, max: 1000, default: 20 },
    tolerance: 0.1,
    sample_interval_ms: 1_000,
    averaging_window_ms: 6_000,
    stabilization_window_ms: 60_000,
    decisions: 50,
  },
  registry_host: 300,
  registry_username: 200,
  registry_password: 10_000,
  volume_path: 4096,
  volume_entries: 1000,
  mount_path: 200,
  /** Limits of an archive for a volume. Up to `ratio_from_bytes` unpacked, any ratio is allowed, because a new database compresses well. */
  volume_upload: { packed_bytes: 16 * 2 ** 30, unpacked_bytes: 64 * 2 ** 30, entries: 250_000, ratio: 200, ratio_from_bytes: 2 ** 30 },
  /** Number of volumes that a project has without a configuration file. */
  project_volumes: 20,
  /** Limits for inspecting, and saving, the files that an app wrote outside of volumes. */
  written_files: {
    entries: 20_000,
    depth: 12,
    list_bytes: 8 * 2 ** 20,
    /** Bytes read of each folder that an image declares as a volume. */
    image_volume_bytes: 32 * 2 ** 20,
    reports: 10,
    large_bytes: 4 * 2 ** 20,
    saved_bytes: 2 ** 30,
    saved_snapshots: 3,
  },
  /** One-off commands: `running` per account at a time, `ticket_ms` to connect with a ticket. */
  one_off_command: { argument: 8192, arguments: 200, running: 10, ticket_ms: 30_000 },
  terminal: { columns: { min: 1, max: 1000 }, rows: { min: 1, max: 1000 } },
  /**
   * Requests kept per project, and for how long. A project may log `burst` requests at once and `per_second` for long; beyond them requests are counted, but
   * not stored, so that the rows of a busy project reach back further. `exported`: the most in a file or in the output of a command. `total_bytes`: of the
   * file with the requests of all projects.
   */
  request_log: {
    rows: 100_000,
    days: 3,
    burst: 2500,
    per_second: 250,
    exported: 10_000,
    path: 2048,
    query: 2048,
    user_agent: 300,
    total_bytes: 2 ** 30,
  },
  /**
   * Traces: spans and their bytes kept per project, and for how long; spans that a project may send in a second and at once. The other limits are those of
   * a request with spans, and of what is kept of a span. `spans_shown`: the most of a trace that are shown.
   */
  tracing: {
    spans: 100_000,
    bytes: 200 * 2 ** 20,
    days: 3,
    per_second: 2_000,
    burst: 20_000,
    body_bytes: 4 * 2 ** 20,
    body_bytes_per_second: 8 * 2 ** 20,
    spans_shown: 10_000,
    log_lines: 1_000,
    name: 300,
    summary: 300,
    attributes: 64,
    key: 200,
    value: 8_192,
    events: 32,
    span_bytes: 64 * 1024,
  },
  /**
   * Captured requests: bytes of each body, of all that a project keeps, and of those that are open or not yet stored. Above `per_second`, requests of a
   * project are logged, but not captured.
   */
  request_capture: {
    body_bytes: 64 * 1024,
    project_bytes: 64 * 2 ** 20,
    pending_bytes: 32 * 2 ** 20,
    per_second: 100,
    hours: 24,
    masked_fields: 50,
    field_name: 100,
    /** Captures in one HAR file, each of which is a request to the API. */
    exported: 100,
  },
  /** A replayed request: how long it may take, and what may be set. */
  replay: { ms: 60_000, headers: 100, header_value: 8192, path: 8192, body_characters: 256 * 1024 },
  /**
   * Statements of the database browser. `result_bytes` of the server end a result; `value_characters` is where a value is cut; a database up to
   * `snapshot_bytes` is dumped before a destructive statement, and the last `snapshots` of these dumps are kept.
   */
  database_query: {
    timeout_ms: { min: 100, max: 600_000, default: 60_000 },
    lock_timeout_ms: 10_000,
    idle_ms: 60_000,
    rows: { max: 100_000, default: 1000 },
    batch_rows: 500,
    page_rows: { max: 500, default: 100 },
    result_bytes: 32 * 2 ** 20,
    value_characters: { max: 1_000_000, default: 2000 },
    sql_characters: 200_000,
    name_characters: 200,
    tables: 2000,
    changes: 100,
    running: 5,
    snapshot_bytes: 64 * 2 ** 20,
    snapshots: 5,
  },
  /** Entries kept of the activity log, of both the smaller number. `inbox`: notifications that a user gets; `names`: the most in an entry. */
  activity: { days: 180, rows: 100_000, inbox: 50, names: 50 },
  notification_address: 2000,
  /** Notification targets, and deploy hooks, of a project or an account. */
  notification_targets: 20,
  notification_projects: 100,
  /** `requests`: the fewest in the time of an error rate, so that one failed request of two is not 50 %. */
  error_rate: { percent: { min: 0.1, max: 100 }, minutes: { min: 1, max: 60 }, requests: 10 },
  /** Attempts of a delivery; the time before the second, which grows by `factor`; and the least time between two notifications of the same incident. */
  notifications: { attempts: 8, first_retry_ms: 10_000, factor: 4, timeout_ms: 10_000, cooldown_ms: 10 * 60_000, retention_days: 30 },
  /**
   * Log drains of a project. A request or connection has at most `batch_lines` and about `batch_bytes`, and lines of `batch_ms`. The time between two
   * attempts doubles from `first_retry_ms` to `max_retry_ms`. A file is rotated at `file_bytes`, and `files` of them are kept. `builds`: the newest build logs
   * that are looked at after a restart.
   */
  log_drains: {
    per_project: 5,
    headers: 20,
    header_name: 100,
    header_value: 4096,
    batch_ms: 1_000,
    batch_lines: 500,
    batch_bytes: 256 * 1024,
    timeout_ms: 10_000,
    first_retry_ms: 1_000,
    max_retry_ms: 60_000,
    file_bytes: 10 * 2 ** 20,
    files: 5,
    builds: 50,
  },
  /** Of the dashboard's metrics and of `/metrics`: routes and deployments in a response, routes that are told apart, projects with series of their own. */
  metrics: { routes: 100, distinct_routes: 1_000, deployments: 50, projects: 500 },
  restart: { first_ms: 1_000, max_ms: 60_000, exits: 5, within_ms: 5 * 60_000 },
} as const
