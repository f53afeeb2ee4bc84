import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useInstance } from '../../api/queries.ts'
import { homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { usePurged } from './purged.ts'

/** Lets a CMS purge by itself: an address to call, and the token that it shows. */
export function Webhook({ project }: { project: Project }) {
  const apiUrl = useInstance().data?.instance.api_url
  const { id, origin } = useConnection((state) => state.current)
  // What another machine calls itself may hold only there.
  const url = `${(id === homeId && apiUrl) || origin}/hooks/cache/${project.slug}`
  const [asking, setAsking] = useState(false)
  return (
    <section className="card" aria-labelledby="webhook">
      <header className="card-head">
        <h2 id="webhook">Purge from elsewhere</h2>
        <Button icon={KeyRound} onClick={() => setAsking(true)}>
          {project.has_purge_token ? 'Rotate the token…' : 'Create token'}
        </Button>
      </header>
      <div className="card-body stack">
        <p className="quiet">
          A content system that calls this address when something changes keeps the cache true. An empty body purges everything; tags or addresses in
          it purge just those.
        </p>
        <Curl command={curlOf(url, '$PURGE_TOKEN')} />
        <p className="faint">
          {project.has_purge_token
            ? 'There is a token. It was shown when it was made; who has lost it rotates it.'
            : 'There is no token yet, so that nobody can purge by this address.'}
        </p>
      </div>
      {asking && <TokenDialog project={project} onOpenChange={setAsking} />}
    </section>
  )
}

function TokenDialog({ project, onOpenChange }: { project: Project; onOpenChange: (open: boolean) => void }) {
  const cache = useQueryClient()
  const purged = usePurged(project.slug)
  const [made, setMade] = useState<Answer<'createPurgeToken'> | null>(null)
  const make = useAction('createPurgeToken', {
    quiet: true,
    onDone(answer) {
      setMade(answer)
      purged()
      void cache.invalidateQueries({ queryKey: keys.project(project.slug) })
    },
  })
  if (made) {
    return (
      <SecretDialog
        title="The token of the webhook"
        about="It is shown this once: copy it now. Whoever has it may purge, and nothing else."
        secret={made.token}
        kind="token"
        onClose={() => onOpenChange(false)}
      >
        {(onCopied) => (
          <>
            <p className="quiet">The whole call, ready for a terminal. It purges entries with the tag “front-page”:</p>
            <Curl command={curlOf(made.webhook_url, made.token)} onCopied={onCopied} />
          </>
        )}
      </SecretDialog>
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={project.has_purge_token ? 'Rotate the token?' : 'Create token'}
      about={
        project.has_purge_token
          ? 'The token of now stops working at once. Whatever uses it has to learn the new one.'
          : 'Who shows it to the webhook may purge the cache of this project, and nothing else.'
      }
    >
      {make.error && <ProblemView problem={make.error} />}
      <footer className="dialog-foot">
        <Button onClick={() => onOpenChange(false)}>{project.has_purge_token ? 'Keep the one of now' : 'Not now'}</Button>
        <Button kind="primary" busy={make.isPending} onClick={() => make.mutate({ params: { slug: project.slug } })}>
          {project.has_purge_token ? 'Rotate' : 'Create'}
        </Button>
      </footer>
    </Dialog>
  )
}

function Curl({ command, onCopied }: { command: string; onCopied?: () => void }) {
  return (
    <div className="curl">
      <pre tabIndex={0} aria-label="Command">
        {command}
      </pre>
      <CopyButton text={command} label="Copy the command" {...(onCopied && { onCopied })} />
    </div>
  )
}

/** In a header, where no log of a proxy on the way writes it down. */
function curlOf(url: string, token: string): string {
  return [
    `curl -X POST ${url} \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"tags": ["front-page"]}'`,
  ].join('\n')
}
