import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { useCreatePurgeToken } from '../../api/edge-cache.ts'
import { useInstanceSession } from '../../api/instance.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import styles from './page.module.css'

/** Purge webhook for a CMS: the URL to call and its token. */
export function Webhook({ project }: { project: Project }) {
  const apiUrl = useInstanceSession().data?.instance.api_url
  const { id, origin } = useConnection((state) => state.current)
  // The name that a remote machine uses for itself may resolve only there.
  const url = `${(id === localInstanceId && apiUrl) || origin}/hooks/cache/${project.slug}`
  const [isOpen, setIsOpen] = useState(false)
  return (
    <section className="card" aria-labelledby="webhook">
      <header className="card-header">
        <h2 id="webhook">Purge webhook</h2>
        <Button icon={KeyRound} onClick={() => setIsOpen(true)}>
          {project.has_purge_token ? 'Rotate token…' : 'Create token'}
        </Button>
      </header>
      <div className="card-body stack">
        <p className="text-muted">
          Call this URL from your CMS when content changes, so that the cache stays up to date. An empty body purges everything; tags or URLs in the
          body purge only matching entries.
        </p>
        <Curl command={curlCommand(url, '$PURGE_TOKEN')} />
        <p className="text-subtle">
          {project.has_purge_token
            ? 'A token exists. It was shown when it was created; rotate it if you have lost it.'
            : 'No token yet, so this URL is disabled.'}
        </p>
      </div>
      {isOpen && <WebhookTokenDialog project={project} onOpenChange={setIsOpen} />}
    </section>
  )
}

function WebhookTokenDialog({ project, onOpenChange }: { project: Project; onOpenChange: (open: boolean) => void }) {
  const [created, setCreated] = useState<CallOutput<'createPurgeToken'> | null>(null)
  const createToken = useCreatePurgeToken({
    hidesErrorToast: true,
    onSuccess: setCreated,
  })
  if (created) {
    return (
      <SecretDialog
        title="Webhook token"
        description="Copy it now: it is not shown again. Anyone with this token can purge the cache, and nothing else."
        secret={created.token}
        kind="token"
        onClose={() => onOpenChange(false)}
      >
        {(onCopied) => (
          <>
            <p className="text-muted">Example command that purges entries with the tag “front-page”:</p>
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
      title={project.has_purge_token ? 'Rotate token?' : 'Create token'}
      description={
        project.has_purge_token
          ? 'The current token stops working immediately. Update every client that uses it.'
          : 'Anyone with the token can purge this project’s cache, and nothing else.'
      }
    >
      {createToken.error && <ProblemView problem={createToken.error} />}
      <footer className="dialog-footer">
        <Button onClick={() => onOpenChange(false)}>{project.has_purge_token ? 'Keep current token' : 'Cancel'}</Button>
        <Button kind="primary" busy={createToken.isPending} onClick={() => createToken.mutate({ params: { slug: project.slug } })}>
          {project.has_purge_token ? 'Rotate token' : 'Create token'}
        </Button>
      </footer>
    </Dialog>
  )
}

function Curl({ command, onCopied }: { command: string; onCopied?: () => void }) {
  return (
    <div className={styles.curl}>
      <pre tabIndex={0} aria-label="Command">
        {command}
      </pre>
      <CopyButton text={command} label="Copy command" {...(onCopied && { onCopied })} />
    </div>
  )
}

/** Sends the token in a header, which proxies do not log. */
function curlCommand(url: string, token: string): string {
  return [
    `curl -X POST ${url} \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"tags": ["front-page"]}'`,
  ].join('\n')
}
