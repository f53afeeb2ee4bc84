/** Why listening on a port failed, as a part of a sentence; undefined if another port would not help. */
export function describeListenError(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return 'in use'
  // Windows reserves ports for Hyper-V and WSL 2, and Unix reserves ports below 1024.
  if (code === 'EACCES') return 'reserved by the system'
  return undefined
}
