/** A setup file of vitest that `reach.ts` adds: tells this worker, and the processes that it starts, which test file is being run. */
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { threadId } from 'node:worker_threads'

const file = relative(process.cwd(), globalThis.__vitest_worker__.filepath)
const worker = join(process.env.FAULT_REACH ?? '', `worker-${process.pid}-${threadId}`)
globalThis.faultTestFile = file
process.env.FAULT_REACH_WORKER = worker
writeFileSync(worker, file)
