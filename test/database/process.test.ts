import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningInstance } from '../support/instance-process.ts'
import { until } from '../support/until.ts'
import { restartStories } from './restart-stories.ts'
import { databaseStories } from './stories.ts'

databaseStories('process')

const pidOf = ({ data }: RunningInstance): number => Number(readFileSync(join(data, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

restartStories('process', {
  async kill(home) {
    const pid = pidOf(home)
    process.kill(pid, 'SIGKILL')
    await until(() => (isAlive(pid) ? undefined : true), { what: 'the end of postgres' })
  },
  async runs(home) {
    try {
      return isAlive(pidOf(home))
    } catch {
      return false
    }
  },
})
