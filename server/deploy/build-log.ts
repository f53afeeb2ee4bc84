import type { BuildLog } from '../contract/build-log.ts'
import type { StepName, StepStatus } from '../contract/deployments.ts'
import { isoTime, sleep } from '../lib/clock.ts'
import { updateStep } from '../store/deployments.ts'
import type { Db } from '../store/open.ts'
import { createLogWriter, type LogWriterOptions } from './log-writer.ts'
import type { Mask } from './mask.ts'

export interface DeploymentLog extends BuildLog {
  maskWith(mask: Mask): void
  /** Closes the running step and stores what is buffered. */
  end(status: 'done' | 'failed' | 'canceled'): Promise<void>
  /** Whether lines were lost because there was no room. */
  metFullDisk(): boolean
}

/** The log of one deployment: its lines, and its steps as they come and go. */
export function createBuildLog(options: Omit<LogWriterOptions, 'keep_head_bytes' | 'keep_tail_bytes'> & { db: Db }): DeploymentLog {
  const writer = createLogWriter({ ...options, keep_head_bytes: 25_000_000, keep_tail_bytes: 25_000_000 })
  let running: StepName | undefined

  const mark = (name: StepName, status: StepStatus) => {
    const ts = isoTime(options.clock.now())
    writer.record({ name, status, ts })
    options.db
      .write((tx) => updateStep(tx, options.stream, name, { status, ...(status === 'running' ? { started_at: ts } : { finished_at: ts }) }))
      .then(() => options.bus.emit(`deployment:${options.stream}`))
      .catch((error: unknown) => options.log.warn('step_not_stored', { deployment: options.stream, step: name, error }))
  }

  return {
    line: (step, stream, line) => writer.line(`"step":"${step}","stream":"${stream}"`, line),
    note: (step, line) => writer.line(`"step":"${step}","stream":"system"`, line),
    step(name) {
      if (running === name) return
      if (running) mark(running, 'done')
      running = name
      mark(name, 'running')
    },
    skip(name) {
      if (running === name) running = undefined
      mark(name, 'skipped')
    },
    maskWith: (mask) => writer.maskWith(mask),
    metFullDisk: () => writer.metFullDisk(),
    async end(status) {
      if (running) mark(running, status)
      running = undefined
      // Nobody shall read the status that follows before the last line.
      while (!writer.flush()) await sleep(options.clock, 5)
    },
  }
}
