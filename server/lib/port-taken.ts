/**
 * Whether listening failed because this port cannot be had: another program listens on it (EADDRINUSE), or the system has reserved it
 * (EACCES, as Windows does for Hyper-V and WSL 2).
 */
export const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')
