import type { BuildLogLine, StepName } from '../contract/deployments.ts'
import { deploymentStatusLabels, stepLabels } from '../contract/labels.ts'
import type { ApiClient } from './client.ts'
import { type CommandContext, exitCodes } from './command.ts'
import { colorize, sanitizeLine } from './terminal.ts'

/** Prints the build log until the deployment ends. With `--json` it only waits, because standard output is for the result. */
export async function followBuild(context: CommandContext, client: ApiClient, slug: string, id: string): Promise<void> {
  const { terminal } = context
  let step: StepName | undefined
  for await (const { event, data } of client.stream('streamBuildLog', { params: { slug, id } }, context.signal)) {
    if (context.is_json) continue
    if (event === 'log') {
      const line = JSON.parse(data) as BuildLogLine
      if (line.step !== step) {
        step = line.step
        terminal.out(colorize(terminal, 'bold', stepLabels[line.step]))
      }
      const text = sanitizeLine(terminal, line.line)
      terminal.out(`  ${line.stream === 'system' ? colorize(terminal, 'cyan', text) : text}`)
    } else if (event === 'lagged') {
      terminal.err(`(${(JSON.parse(data) as { dropped: number }).dropped} lines skipped because this terminal was too slow)`)
    }
  }
}

/** Prints the result of a deployment and returns the exit code. */
export async function reportOutcome(context: CommandContext, client: ApiClient, slug: string, id: string): Promise<number> {
  const { terminal } = context
  if (context.signal.aborted) {
    terminal.err(`Stopped following; the deployment continues. Cancel it with: homeport deployments cancel ${slug} ${id}`)
    return exitCodes.failure
  }
  const { deployment } = await client.call('getDeployment', { params: { slug, id }, query: { build_log: 'false' } })
  const { build_log: _log, ...summary } = deployment
  if (context.is_json) {
    const { project } = await client.call('getProject', { params: { slug } })
    terminal.out(JSON.stringify({ project, deployment: summary }))
  }
  if (deployment.status === 'ready') {
    if (!context.is_json) terminal.out(`${colorize(terminal, 'green', '✓ Live')} at ${colorize(terminal, 'bold', deployment.url ?? '')}`)
    return exitCodes.success
  }
  if (deployment.error) {
    terminal.err(`${colorize(terminal, 'red', `✗ ${deployment.error.code}`)}: ${sanitizeLine(terminal, deployment.error.message)}`)
    if (deployment.error.hint !== '') for (const line of deployment.error.hint.split('\n')) terminal.err(`  ${sanitizeLine(terminal, line)}`)
  } else terminal.err(`Deployment ${deploymentStatusLabels[deployment.status].toLowerCase()}.`)
  return exitCodes.failure
}
