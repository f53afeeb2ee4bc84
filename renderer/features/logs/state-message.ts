import type { RuntimeStateEvent } from '../../../server/contract/deployments.ts'

/** The line of a log about the state of an app. `title`: of the deployment, if it is among the newest. */
export function formatStateMessage({ state, exit_code, deployment_id }: RuntimeStateEvent, title: string | undefined, wasAsleep: boolean): string {
  const code = exit_code === null ? '' : ` with code ${exit_code}`
  const message = {
    starting: wasAsleep ? 'waking up for a request' : 'starting',
    running: wasAsleep ? 'awake' : 'running',
    cold: 'asleep after being idle; the next request wakes it',
    exited: `exited${code}`,
    oom: 'stopped: out of memory',
    stopped: 'stopped',
  }[state]
  return deployment_id === null ? message : `${message} (${title ?? `deployment …${deployment_id.slice(-6)}`})`
}
