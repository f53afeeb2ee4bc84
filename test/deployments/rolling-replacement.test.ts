import { describe } from 'vitest'
import { useDeploymentContext } from './deployment-suite.ts'
import { identityServer, rollingSuite } from './rolling-suite.ts'

/** Replicas that are processes share the folder of their version, so that the second start can see the first. */
const failsSecond = `try { require('node:fs').writeFileSync('started', '', { flag: 'wx' }) } catch { process.exit(1) }`

describe('rolling replacement of processes', () =>
  rollingSuite(useDeploymentContext('process', undefined, new URL('./low-memory-host.ts', import.meta.url).href), (version) =>
    identityServer(version, failsSecond),
  ))
