import { SquareTerminal } from 'lucide-react'
import { useCapabilities } from '../../api/capabilities.ts'
import type { CommandTarget } from '../../api/commands.ts'
import { Button } from '../../components/button.tsx'
import { CopyText } from '../../components/copy.tsx'
import { EmptyState } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { useRemoteInstance } from '../../lib/remote-instance.ts'

interface Props {
  target: CommandTarget
  /** A version is live. */
  canOpen: boolean
  onOpen(): void
}

/** Explains what a shell is, or why there is none here. */
export function Introduction({ target, canOpen, onOpen }: Props) {
  const { has_terminal } = useCapabilities()
  if (!has_terminal) return <NoTerminal target={target} />
  if (!canOpen)
    return (
      <EmptyState icon={SquareTerminal} title="No version is live">
        A shell runs next to the live version. Deploy the project, then open it here.
      </EmptyState>
    )
  const { branch, service } = target
  const where = `${service ?? 'the main service'}${branch === null ? '' : ` in the preview of ${branch}`}`
  return (
    <EmptyState
      icon={SquareTerminal}
      title="Open a shell"
      action={
        <>
          <Button kind="primary" icon={SquareTerminal} onClick={onOpen}>
            Open shell
          </Button>
          <HelpLink topic="commands">About shells and one-off commands</HelpLink>
        </>
      }
    >
      It runs in a new replica of {where}, next to the live version, with its files, variables, database and volumes. Files that it writes outside of
      a volume are deleted with it.
    </EmptyState>
  )
}

/** Requests to another instance go through this one, which forwards no WebSockets: a ticket of the other instance is valid only there. */
function NoTerminal({ target: { slug, branch, service } }: { target: CommandTarget }) {
  const { has_instance_api } = useCapabilities()
  const remote = useRemoteInstance()
  if (!remote || !has_instance_api)
    return (
      <EmptyState icon={SquareTerminal} title="No terminal on this instance">
        A hosted account does not run one-off commands.
      </EmptyState>
    )
  const flags = `${service === null ? '' : ` --service ${quote(service)}`}${branch === null ? '' : ` --branch ${quote(branch)}`}`
  return (
    <EmptyState
      icon={SquareTerminal}
      title="Open this shell on a command line"
      action={<CopyText text={`HOMEPORT_URL=${remote.origin} npx homeport shell ${quote(slug)}${flags}`} />}
    >
      Here, shells open only for projects of this machine. For {remote.name}, run this command with an API token of that instance in{' '}
      <code>HOMEPORT_TOKEN</code>.
    </EmptyState>
  )
}

/** The names come from the URL of the page, and the command is pasted into a shell. */
const quote = (name: string): string => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`)
