import type { StepLog } from '../contract/build-log.ts'
import type { StepName, StepStatus } from '../contract/deployments.ts'
import { isoTime, sleep } from '../lib/clock.ts'
import { updateStep } from '../store/deployments.ts'
import type { Db } from '../store/store.ts'
import { createLogWriter, type LogWriterOptions } from './log-writer.ts'
import type { SecretMask } from './secret-mask.ts'

export interface DeploymentLog {
  /** The step that runs or ran last; `clone` before the first. */
  readonly step: StepName
  /** Starts a step and marks the previous one as done. */
  begin(step: StepName): StepLog
  /** Marks the running step as skipped. */
  skip(): void
  /** A message of Homeport, in the current step. */
  note(line: string): void
  setMask(mask: SecretMask): void
  /** Ends the running step and stores buffered lines. */
  end(status: 'done' | 'failed' | 'canceled'): Promise<void>
  /** Whether lines were lost because the disk was full. */
  hasLostLines(): boolean
}

/** The log of one deployment: its lines and its steps. */
export function createDeploymentLog(options: Omit<LogWriterOptions, 'keep_head_bytes' | 'keep_tail_bytes'> & { db: Db }): DeploymentLog {
  const writer = createLogWriter({ ...options, keep_head_bytes: 25_000_000, keep_tail_bytes: 25_000_000 })
  let step: StepName = 'clone'
  let isRunning = false

  const setStepStatus = (name: StepName, status: StepStatus) => {
    const ts = isoTime(options.clock.now())
    writer.writeRecord({ name, status, ts })
    options.db
      .write((tx) => {
        updateStep(tx, options.stream, name, { status, ...(status === 'running' ? { started_at: ts } : { finished_at: ts }) })
        tx.publish({ type: 'deployment_changed', id: options.stream })
      })
      .catch((error: unknown) => options.log.warn('step_store_failed', { deployment: options.stream, step: name, error }))
  }

  /** Ends the running step, if there is one. */
  const endStep = (status: 'done' | 'failed' | 'canceled' | 'skipped') => {
    if (isRunning) setStepStatus(step, status)
    isRunning = false
  }

  return {
    get step() {
      return step
    },
    begin(name) {
      endStep('done')
      step = name
      isRunning = true
      setStepStatus(name, 'running')
      return {
        line: (stream, line) => writer.writeLine(`"step":"${name}","stream":"${stream}"`, line),
        note: (line) => writer.writeLine(`"step":"${name}","stream":"system"`, line),
      }
    },
    skip: () => endStep('skipped'),
    note: (line) => writer.writeLine(`"step":"${step}","stream":"system"`, line),
    setMask: (mask) => writer.setMask(mask),
    hasLostLines: () => writer.hasLostLines(),
    async end(status) {
      endStep(status)
      // The last line must be stored before the status changes.
      while (!writer.flush()) await sleep(options.clock, 5)
    },
  }
}
