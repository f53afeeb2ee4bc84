import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { quarantineSuite } from './quarantine-suite.ts'

/** The folder of its deployment is an argument of the sandbox, or in the environment of the app. */
quarantineSuite(
  () => ({ runtime: 'process' }),
  async (deploymentId, { data_dir }) =>
    execFileSync('ps', ['-eww', 'e', '-o', 'args='], { encoding: 'utf8', maxBuffer: 2 ** 26 }).includes(join(data_dir, 'bundles', deploymentId)),
)
