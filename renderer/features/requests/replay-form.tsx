import { ArrowLeft, Send } from 'lucide-react'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { CapturedExchange, ReplayTarget } from '../../../server/contract/request-captures.ts'
import type { LoggedRequest } from '../../../server/contract/requests.ts'
import { useDeployments } from '../../api/deployments.ts'
import { usePreviews } from '../../api/previews.ts'
import { useReplayRequest } from '../../api/request-captures.ts'
import { Button } from '../../components/button.tsx'
import { numberedTitle } from '../../components/deployment-line.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { LinesField, SelectField, TextField } from '../../components/field.tsx'
import { useForm } from '../../lib/use-form.ts'
import { formatJson } from './captured-message.tsx'
import { methodChoices } from './filters.ts'
import { ReplayResult } from './replay-result.tsx'
import styles from './captures.module.css'

interface Props {
  slug: string
  request: LoggedRequest
  captured: CapturedExchange
  onBack: () => void
}

/** Sends a captured request again, edited or not, and shows both responses. */
export function ReplayForm({ slug, request, captured, onBack }: Props) {
  const previews = usePreviews(slug).data ?? []
  const earlier = (useDeployments(slug, { target: 'production', status: 'ready' }).data?.pages ?? [])
    .flatMap(({ deployments }) => deployments)
    .filter(({ is_current, can_rollback }) => can_rollback && !is_current)
  const replay = useReplayRequest({ hidesErrorToast: true })
  const { method, path, query } = request
  const sent = captured.request
  const headers = sent.headers.filter(([name, value]) => isEditable(name) && value !== '***')
  const isText = sent.encoding === 'text'
  const form = useForm({
    initial: {
      target: '',
      method,
      path: query === null ? path : `${path}?${query}`,
      headers: headers.map(([name, value]) => `${name}: ${value}`).join('\n'),
      body: isText ? formatJson(sent.body ?? '') : '',
    },
    submission: replay,
    check: ({ headers: lines }) => ({ headers: findInvalidLine(lines) }),
    onSubmit: (values) =>
      replay.mutate({
        params: { slug, id: request.id },
        body: {
          target: toTarget(values.target),
          // What is unchanged is sent as captured.
          ...(form.changes.method !== undefined && { method: methodChoices.find((one) => one === values.method) }),
          ...(form.changes.path !== undefined && { path: values.path }),
          ...(form.changes.headers !== undefined && { headers: parseHeaders(values.headers) }),
          ...(form.changes.body !== undefined && { body: values.body === '' ? null : values.body }),
        },
      }),
  })
  return (
    <div className={`stack ${styles.replay}`}>
      <Button kind="bare" icon={ArrowLeft} onClick={onBack} className={styles.back}>
        Back to the request
      </Button>
      <form className="stack" {...form.props}>
        <div className={styles.line}>
          <SelectField
            label="Send to"
            hint={
              form.values.target.startsWith('deployment:')
                ? 'Starts this version for the replay, with the variables and the database of production.'
                : undefined
            }
            {...form.text('target')}
          >
            <option value="">Production</option>
            {previews.map(({ branch }) => (
              <option key={branch} value={`preview:${branch}`}>
                Preview of {branch}
              </option>
            ))}
            {earlier.slice(0, shownVersions).map((deployment) => (
              <option key={deployment.id} value={`deployment:${deployment.id}`}>
                Earlier version {numberedTitle(deployment)}
              </option>
            ))}
          </SelectField>
          <SelectField label="Method" {...form.text('method')}>
            {[...new Set([method, ...methodChoices])].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </SelectField>
          <TextField label="Path" mono maxLength={limits.replay.path} {...form.text('path')} />
        </div>
        <LinesField
          label="Headers"
          hint="Headers with masked values are left out. Add them here if the app needs them."
          {...form.text('headers')}
          rows={Math.min(8, Math.max(3, headers.length))}
        />
        <LinesField
          label="Body"
          hint={
            isText
              ? sent.body?.includes('***')
                ? 'Masked values (***) are sent literally.'
                : undefined
              : 'The captured body is not text. It is sent as captured unless you enter another.'
          }
          {...form.text('body')}
          rows={8}
        />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className={styles.actions}>
          <Button kind="primary" type="submit" icon={Send} busy={form.is_busy}>
            Send request
          </Button>
        </footer>
      </form>
      <Result slug={slug} result={replay.data} />
    </div>
  )
}

const Result = ({ slug, result }: { slug: string; result: CallOutput<'replayRequest'> | undefined }) =>
  result ? <ReplayResult slug={slug} original={result.original} replayed={result.replayed} /> : null

/** Headers that the new connection has of its own. */
const isEditable = (name: string): boolean =>
  !/^(?:host|connection|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|keep-alive|forwarded|traceparent|tracestate|x-request-id|x-homeport-replay)$/i.test(
    name,
  ) && !/^x-forwarded/i.test(name)

const shownVersions = 5

/** Empty, `preview:BRANCH` or `deployment:ID`. */
function toTarget(choice: string): ReplayTarget {
  const [, kind, name = ''] = /^(preview|deployment):(.+)$/.exec(choice) ?? []
  if (kind === undefined) return { kind: 'production' }
  return kind === 'preview' ? { kind, branch: name } : { kind: 'deployment', id: name }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

function findInvalidLine(text: string): string | undefined {
  const line = linesOf(text).find((one) => !/^[^\s:]+:/.test(one))
  return line === undefined ? undefined : `Write headers as “Name: value”, one per line. This line is not: ${line}`
}

const parseHeaders = (text: string): [string, string][] =>
  linesOf(text).map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
  })
