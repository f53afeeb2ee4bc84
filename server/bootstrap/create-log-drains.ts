import { join } from 'node:path'
import { createLogDrains, type LogDrains } from '../log-drains/log-drains.ts'
import type { PlatformContext } from './context.ts'

/** Delivers the logs of projects. Starts before the apps do, and ends after their last line is stored. */
export function createPlatformLogDrains(context: PlatformContext): LogDrains {
  const { store, data_dir, onClose } = context
  const { db, logs, requests, drains } = store
  const logDrains = createLogDrains({ ...context, db, logs, requests, progress: drains, folder: join(data_dir, 'log-drains') })
  onClose(() => logDrains.close())
  return logDrains
}
