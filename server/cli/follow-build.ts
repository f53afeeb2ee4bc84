import type { BuildLogLine, StepName } from '../contract/deployments.ts'
import type { Client } from './client.ts'
import { type Call, exitCodes } from './command.ts'
import { paint, printable } from './terminal.ts'

const titles: Record<StepName, string> = {
  clone: 'Getting the source',
  detect: 'Looking at it',
  install: 'Installing dependencies',
  build: 'Building',
  start: 'Starting',
  health_check: 'Waiting for an answer',
  route: 'Putting it in place',
}

/** Prints the log of a deployment until it ends. With `--json` it only waits: standard output belongs to the result. */
export async function followBuild(call: Call, client: Client, slug: string, id: string): Promise<void> {
  const { terminal } = call
  let step: StepName | undefined
  for await (const { event, data } of client.stream('streamBuildLog', { params: { slug, id } }, call.signal)) {
    if (call.json) continue
    if (event === 'log') {
      const line = JSON.parse(data) as BuildLogLine
      if (line.step !== step) {
        step = line.step
        terminal.out(paint(terminal, 'bold', titles[line.step]))
      }
      const text = printable(terminal, line.line)
      terminal.out(`  ${line.stream === 'system' ? paint(terminal, 'cyan', text) : text}`)
    } else if (event === 'lagged') {
      terminal.err(`(${(JSON.parse(data) as { dropped: number }).dropped} lines were left out here because this terminal was slow)`)
    }
  }
}

/** Says how a deployment ended; 1 when it did not end well. */
export async function finish(call: Call, client: Client, slug: string, id: string): Promise<number> {
  const { terminal } = call
  if (call.signal.aborted) {
    terminal.err(`Not following any more; the deployment goes on. Stop it with: homeport deployments cancel ${slug} ${id}`)
    return exitCodes.refused
  }
  const { deployment } = await client.call('getDeployment', { params: { slug, id } })
  const { build_log: _log, ...short } = deployment
  if (call.json) {
    const { project } = await client.call('getProject', { params: { slug } })
    terminal.out(JSON.stringify({ project, deployment: short }))
  }
  if (deployment.status === 'ready') {
    if (!call.json) terminal.out(`${paint(terminal, 'green', '✓ Live')} at ${paint(terminal, 'bold', deployment.url ?? '')}`)
    return exitCodes.done
  }
  if (deployment.error) {
    terminal.err(`${paint(terminal, 'red', `✗ ${deployment.error.code}`)}: ${printable(terminal, deployment.error.message)}`)
    if (deployment.error.hint !== '') for (const line of deployment.error.hint.split('\n')) terminal.err(`  ${printable(terminal, line)}`)
  } else terminal.err(`The deployment ended as ${deployment.status}.`)
  return exitCodes.refused
}
