/** Looks after the repositories: what is pushed is deployed, what is deleted is closed. */
export interface Watcher {
  /** Looks at a repository now; resolves when the look is over and what it found is queued. */
  check(projectId: string): Promise<void>
  /** What a project wants of its repository has changed: resolves when what is no longer wanted is closed. */
  follow(projectId: string): Promise<void>
  close(): Promise<void>
}

export function createWatcher(): Watcher {
  return { async check() {}, async follow() {}, async close() {} }
}
