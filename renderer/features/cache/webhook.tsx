import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import type { Project } from '../../../server/contract/projects.ts'
import { useApiMutation } from '../../api/use-api-mutation.ts'
import type { ApiResponse } from '../../api/api-client.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { useInstanceSession } from '../../api/queries.ts'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import { useRefreshAfterPurge } from './use-refresh-after-purge.ts'

/** Lets a CMS purge by itself: an address to call, and the token that it shows. */
export function Webhook({ project }: { project: Project }) {
  const apiUrl = useInstanceSession().data?.instance.api_url
  const { id, origin } = useConnection((state) => state.current)
  // What another machine calls itself may hold only there.
  const url = `${(id === localInstanceId && apiUrl) || origin}/hooks/cache/${project.slug}`
  const [isOpen, setIsOpen] = useState(false)
  return (
    <section className="card" aria-labelledby="webhook">
      <header className="card-header">
        <h2 id="webhook">Purge from elsewhere</h2>
        <Button icon={KeyRound} onClick={() => setIsOpen(true)}>
          {project.has_purge_token ? 'Rotate the token…' : 'Create token'}
        </Button>
      </header>
      <div className="card-body stack">
        <p className="text-muted">
          A content system that calls this address when something changes keeps the cache true. An empty body purges everything; tags or addresses in
          it purge just those.
        </p>
        <Curl command={curlCommand(url, '$PURGE_TOKEN')} />
        <p className="text-subtle">
          {project.has_purge_token
            ? 'There is a token. It was shown when it was made; who has lost it rotates it.'
            : 'There is no token yet, so that nobody can purge by this address.'}
        </p>
      </div>
      {isOpen && <WebhookTokenDialog project={project} onOpenChange={setIsOpen} />}
    </section>
  )
}

function WebhookTokenDialog({ project, onOpenChange }: { project: Project; onOpenChange: (open: boolean) => void }) {
  const cache = useQueryClient()
  const refreshAfterPurge = useRefreshAfterPurge(project.slug)
  const [created, setCreated] = useState<ApiResponse<'createPurgeToken'> | null>(null)
  const createToken = useApiMutation('createPurgeToken', {
    hidesErrorToast: true,
    onSuccess(answer) {
      setCreated(answer)
      refreshAfterPurge()
      void cache.invalidateQueries({ queryKey: queryKeys.project(project.slug) })
    },
  })
  if (created) {
    return (
      <SecretDialog
        title="The token of the webhook"
        description="It is shown this once: copy it now. Whoever has it may purge, and nothing else."
        secret={created.token}
        kind="token"
        onClose={() => onOpenChange(false)}
      >
        {(onCopied) => (
          <>
            <p className="text-muted">The whole call, ready for a terminal. It purges entries with the tag “front-page”:</p>
            <Curl command={curlCommand(created.webhook_url, created.token)} onCopied={onCopied} />
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
      description={
        project.has_purge_token
          ? 'The token of now stops working at once. Whatever uses it has to learn the new one.'
          : 'Who shows it to the webhook may purge the cache of this project, and nothing else.'
      }
    >
      {createToken.error && <ProblemView problem={createToken.error} />}
      <footer className="dialog-footer">
        <Button onClick={() => onOpenChange(false)}>{project.has_purge_token ? 'Keep the one of now' : 'Not now'}</Button>
        <Button kind="primary" busy={createToken.isPending} onClick={() => createToken.mutate({ params: { slug: project.slug } })}>
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
function curlCommand(url: string, token: string): string {
  return [
    `curl -X POST ${url} \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"tags": ["front-page"]}'`,
  ].join('\n')
}
