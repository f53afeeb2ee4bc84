/**
 * Loaded with `--import` into every process of a run that records which tests reach a fault (reach.ts). A process that no test worker started,
 * directly or indirectly, belongs to the browser tests.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.FAULT_REACH
const noted = new Set()
let current = 'test/e2e/'
let read_at = -Infinity

/** The test file of this worker, or of the worker that started this process, which may already run its next file. */
function testFile() {
  if (globalThis.faultTestFile !== undefined) return globalThis.faultTestFile
  const file = process.env.FAULT_REACH_WORKER
  if (file === undefined || performance.now() - read_at < 20) return current
  read_at = performance.now()
  if (existsSync(file)) current = readFileSync(file, 'utf8')
  return current
}

globalThis.reachedFault = (fault) => {
  const line = `${fault} ${testFile()}\n`
  if (folder === undefined || noted.has(line)) return
  noted.add(line)
  appendFileSync(join(folder, 'reached'), line)
}
