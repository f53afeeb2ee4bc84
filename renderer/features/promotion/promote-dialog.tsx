import { Anchor, Rocket } from 'lucide-react'
import { Link } from 'wouter'
import { toPromotionClient, usePromotionSource, usePromotionTarget } from '../../api/promotion-sides.ts'
import {
  compareSettings,
  compareVariables,
  listMissingSettings,
  readPromotedSettings,
  reversedChanges,
  selectedChanges,
  type SettingName,
} from '../../../server/client/promotion/compare.ts'
import { chooseParts, listNotCopied, noData, offerParts } from '../../../server/client/promotion/parts.ts'
import type { PromotionRequest } from '../../../server/client/promotion/request.ts'
import type { SourceProject, TargetProject } from '../../../server/client/promotion/sides.ts'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { CallInput } from '../../../server/client/operation-types.ts'
import { toApiError } from '../../lib/api-error.ts'
import { localInstanceId } from '../../lib/instance-path.ts'
import { type InstanceConnection, useConnection } from '../../stores/connection.ts'
import { promotionKey, usePromotions } from '../../stores/promotions.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { firstLine } from '../../lib/format.ts'
import { projectBadge } from '../../components/status.tsx'
import { DeploymentLine } from '../../components/deployment-line.tsx'
import { SettingDifferences, VariableDifferences, PromotionWarnings } from './differences.tsx'
import { PromotedPartsFields } from './parts-fields.tsx'
import { startPromotion } from './run-promotion.ts'
import { TargetProjectField, TargetInstanceField } from './target-fields.tsx'
import { useDebouncedValue } from '../../lib/use-debounced-value.ts'
import { useForm } from '../../lib/use-form.ts'
import { promotionWarnings } from './promotion-format.ts'
import styles from './promotion.module.css'

interface Props {
  slug: string
  name: string
  /** `pull`: from the current instance to this machine. */
  kind: 'promote' | 'pull'
  /** Null: the current production deployment. */
  deploymentId: string | null
  onOpenChange: (open: boolean) => void
}

/** Shows the differences between source and target before a promotion. */
export function PromoteDialog({ slug, name, kind, deploymentId, onOpenChange }: Props) {
  const { connections, current: from } = useConnection()
  const targets = connections.filter(({ id }) => id !== from.id && (id === localInstanceId) === (kind === 'pull'))
  const isRunning = usePromotions(({ promotions }) => promotions.some((one) => one.key === promotionKey(from.id, slug) && one.state !== 'done'))
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={kind === 'pull' ? `Pull ${name} to this machine` : `Promote ${name}`}
      description={
        kind === 'pull'
          ? `Builds and deploys the current version from ${from.name} on this machine. Review the differences first.`
          : 'Builds and deploys the current version on another instance. Review the differences first.'
      }
    >
      {targets.length === 0 ? (
        <EmptyState
          icon={Anchor}
          title="No other instance yet"
          action={
            <Link href="/instances" className="button button-primary">
              Add instance
            </Link>
          }
        >
          Connect another Homeport or your hosted account with its URL and a token to promote this app.
        </EmptyState>
      ) : isRunning ? (
        <p className="text-muted">A promotion of this project is already in progress. See the top of the page to follow or cancel it.</p>
      ) : (
        <PromoteForm from={from} targets={targets} kind={kind} slug={slug} deploymentId={deploymentId} onDone={() => onOpenChange(false)} />
      )}
    </Dialog>
  )
}

interface FormProps extends Pick<Props, 'slug' | 'kind' | 'deploymentId'> {
  from: InstanceConnection
  targets: InstanceConnection[]
  onDone: () => void
}

const noVariables: ReadonlySet<string> = new Set()

function PromoteForm({ from, targets, kind, slug, deploymentId, onDone }: FormProps) {
  const form = useForm({
    initial: {
      chosenId: null as string | null,
      slug,
      settings: null as ReadonlySet<SettingName> | null,
      variables: noVariables,
      choice: noData,
    },
    onSubmit: () => submit(),
  })
  const { chosenId, slug: typed, settings: chosenSettings, variables: chosenVariables, choice } = form.values
  const to = targets.find(({ id }) => id === chosenId) ?? targets.find((one) => one.is_signed_in) ?? targets[0]!
  const targetSlug = useDebouncedValue(typed.trim())
  const source = usePromotionSource(from, slug, deploymentId)
  const target = usePromotionTarget(to, targetSlug)
  const isSettled = targetSlug === typed.trim()
  const sourceProject = source.data
  const targetProject = isSettled ? target.data : undefined
  const ours = sourceProject && readPromotedSettings(sourceProject.project, sourceProject)
  const theirs = targetProject?.project ? readPromotedSettings(targetProject.project, targetProject) : null
  const rows = ours && targetProject ? compareSettings(ours, theirs) : []
  const offer = sourceProject && targetProject && offerParts(sourceProject, targetProject)
  const variables = sourceProject && targetProject ? compareVariables(sourceProject.variables, targetProject.variables) : []
  const missing = variables.filter(({ difference, key }) => difference === 'only_here' && chosenVariables.has(key)).map(({ key }) => key)
  const settings = chosenSettings ?? new Set(rows.map(({ setting }) => setting))
  const blocker = sourceProject && targetProject ? blockingReason(sourceProject, targetProject, from.name) : null

  const submit = () => {
    const found = sourceProject && targetProject && toPromotionSource(sourceProject, targetProject.is_instance ? from.name : null)
    if (!found || !offer || blocker !== null) return
    const parts = chooseParts(sourceProject, offer, choice)
    const request: PromotionRequest = {
      from: { client: toPromotionClient(from.client), slug },
      to: { client: toPromotionClient(to.client), slug: targetSlug },
      source: found,
      new_name: targetProject.project ? null : sourceProject.project.name,
      settings: selectedChanges(rows, settings),
      before: reversedChanges(rows),
      variables: new Set(missing),
      parts,
    }
    const missingSettings = ours && theirs ? listMissingSettings(ours, theirs) : []
    const decisions = { variables, chosenVariables: new Set(missing), missingSettings, offer, parts }
    startPromotion(from, to, request, listNotCopied(sourceProject, decisions))
    onDone()
  }

  return (
    <form className={`stack ${styles.promote}`} {...form.props}>
      <TargetInstanceField legend="Instance" targets={targets} to={to} onTo={(next) => form.set({ chosenId: next })} />
      <TargetProjectField
        connection={to}
        label="Target project"
        slug={typed}
        onSlug={(next) => form.set({ slug: next })}
        hint={targetHint(targetProject?.project)}
      />
      {source.error && <ProblemView problem={toApiError(source.error)} onRetry={() => void source.refetch()} />}
      {target.error && isSettled && <ProblemView problem={toApiError(target.error)} onRetry={() => void target.refetch()} />}
      {sourceProject && <SourceSummary sourceProject={sourceProject} kind={kind} />}
      {sourceProject && targetProject ? (
        <>
          {blocker !== null && (
            <p className={styles.promoteBlock} role="alert">
              {blocker}
            </p>
          )}
          <SettingDifferences
            rows={rows}
            names={{ from: from.name, to: to.name }}
            chosen={settings}
            onChoose={(next) => form.set({ settings: next })}
          />
          <VariableDifferences
            rows={variables}
            names={{ from: from.name, to: to.name }}
            chosen={chosenVariables}
            onChoose={(next) => form.set({ variables: next })}
          />
          {offer && (
            <PromotedPartsFields
              offer={offer}
              names={{ from: from.name, to: to.name }}
              choice={choice}
              onChoose={(next) => form.set({ choice: next })}
            />
          )}
          <PromotionWarnings warnings={promotionWarnings(sourceProject, targetProject, { from: from.name, to: to.name })} />
        </>
      ) : (
        !source.error && !(target.error && isSettled) && targetSlug !== '' && <SkeletonRows rows={4} height={40} />
      )}
      <footer className="dialog-footer">
        <Button onClick={onDone}>Cancel</Button>
        <Button kind="primary" type="submit" icon={Rocket} disabled={!sourceProject || !targetProject || blocker !== null}>
          {kind === 'pull' ? 'Pull to this machine' : `Promote to ${to.name}`}
        </Button>
      </footer>
    </form>
  )
}

function SourceSummary({ sourceProject, kind }: { sourceProject: SourceProject; kind: Props['kind'] }) {
  const { deployment, project, is_instance } = sourceProject
  return (
    <section className={styles.promoteSource} aria-labelledby="promote-source">
      <h3 id="promote-source">{kind === 'pull' ? 'What is pulled' : 'What is promoted'}</h3>
      {!is_instance && project.repo_url !== null ? (
        <p>
          The latest commit of <code>{project.repo_branch}</code> of <code>{project.repo_url}</code>: this instance does not provide sources, so the
          project is created from its repository. Credentials of a private repository are not copied.
        </p>
      ) : deployment ? (
        <DeploymentLine deployment={deployment} />
      ) : (
        <p className="text-muted">No deployment yet.</p>
      )}
    </section>
  )
}

/** `fromName`: the source instance, as reported to the target; null for a hosted account, which does not accept it. */
function toPromotionSource({ is_instance, deployment, project }: SourceProject, fromName: string | null): PromotionRequest['source'] | null {
  if (is_instance && deployment)
    return { kind: 'archive', deployment_id: deployment.id, ...(fromName !== null && { commit: commitQuery(deployment, fromName) }) }
  if (is_instance) return null
  return project.repo_url === null ? null : { kind: 'git', repo_url: project.repo_url, repo_branch: project.repo_branch }
}

/** A folder or an archive has no commit, so the message names the source instance. */
function commitQuery({ commit_sha, commit_message, commit_author }: Deployment, fromName: string): CallInput<'uploadCommit'>['query'] {
  return {
    ...(commit_sha !== null && { commit_sha }),
    commit_message: firstLine(commit_message ?? '') || `Promoted from ${fromName}`,
    ...(commit_author !== null && { commit_author }),
  }
}

function targetHint(found: Project | null | undefined): string {
  if (found === undefined) return 'The slug of an existing project, or of a new one.'
  if (found === null) return 'No project has this slug. A new project is created.'
  return `${found.slug} exists (“${found.name}”, ${projectBadge(found).label.toLowerCase()}). It gets a new deployment.`
}

/** Why the promotion is not possible. */
function blockingReason(sourceProject: SourceProject, targetProject: TargetProject, fromName: string): string | null {
  const source = toPromotionSource(sourceProject, null)
  if (!source)
    return sourceProject.is_instance
      ? 'This project has no ready deployment. Deploy it first.'
      : `${fromName} does not provide sources and this project has no Git URL, so it cannot be copied from there. Deploy it from its source instead.`
  if (source.kind === 'git' && targetProject.project && targetProject.project.repo_url !== source.repo_url)
    return `The project ${targetProject.project.slug} is not connected to that repository. Choose another slug to create a new project.`
  return null
}
