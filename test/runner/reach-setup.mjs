import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { threadId } from 'node:worker_threads'

const worker = join(process.env.FAULT_REACH ?? '', `worker-${process.pid}-${threadId}`)

/** Called from vitest's setup file before each test file (`reach.ts`). Records the current file for this worker and the processes that it starts. */
export function noteTestFile() {
  globalThis.faultTestFile = relative(process.cwd(), globalThis.__vitest_worker__.filepath)
  process.env.FAULT_REACH_WORKER = worker
  writeFileSync(worker, globalThis.faultTestFile)
}
