import type { RuntimeStatus, Settings, check } from '../contract/instance.ts'
import type { Engine } from '../deploy/engine.ts'
import type { Bus } from '../lib/bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Sealer } from '../store/sealed.ts'
import type { Store } from '../store/open.ts'
import type { z } from 'zod'

/** What the use cases are given by the composition root. */
export interface FeatureDeps {
  store: Store
  engine: Engine
  sealer: Sealer
  bus: Bus
  clock: Clock
  /** Settings as they are now; `change` stores them and makes them hold at once. */
  settings: { current(): Settings; change(change: Partial<Settings>): Promise<Settings> }
  /** Facts of this run, ports included. */
  instance(): {
    version: string
    api_url: string
    edge_url: string
    dashboard_url: string
    runtime: RuntimeStatus
    encryption: 'keychain' | 'file_key'
    is_local: boolean
  }
  /** What git knows of a folder of this machine. */
  describeFolder(path: string): Promise<{ is_git: boolean; branch: string | null }>
  /** Whether an absolute path names a folder. */
  isFolder(path: string): Promise<boolean>
  doctor(): Promise<z.output<typeof check>[]>
}
