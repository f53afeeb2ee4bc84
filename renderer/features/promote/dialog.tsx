import { useQuery } from '@tanstack/react-query'
import { Anchor, Rocket } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { CallInput } from '../../api/client.ts'
import { problemFrom } from '../../api/problem.ts'
import { homeId } from '../../stores/address.ts'
import { type Connection, useConnection } from '../../stores/connection.ts'
import { promotionKey, usePromotions } from '../../stores/promotions.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { firstLine } from '../../ui/format.ts'
import { projectSign } from '../../ui/status.tsx'
import { DeploymentLine } from '../deployments/deployment-line.tsx'
import { type SettingName, changesOf, compareSettings, compareVariables } from './compare.ts'
import { Settings, Variables, Warnings } from './differences.tsx'
import { type SourceSide, type TargetSide, lookAtSource, lookAtTarget } from './look.ts'
import { promote } from './promote.ts'
import { ProjectField, TargetField } from './target-fields.tsx'
import type { Wish } from './steps.ts'
import { useSettled } from './use-settled.ts'
import { warningsOf } from './words.ts'
import './promote.css'

interface Props {
  slug: string
  name: string
  /** `pull`: to this machine, from the one in front. */
  kind: 'promote' | 'pull'
  /** Null: what serves production now. */
  deploymentId: string | null
  onOpenChange: (open: boolean) => void
}

/** What would be different there stands there before anything goes there. */
export default function PromoteDialog({ slug, name, kind, deploymentId, onOpenChange }: Props) {
  const { connections, current: from } = useConnection()
  const targets = connections.filter(({ id }) => id !== from.id && (id === homeId) === (kind === 'pull'))
  const isUnderWay = usePromotions(({ promotions }) => promotions.some((one) => one.key === promotionKey(from.id, slug) && one.state !== 'done'))
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={kind === 'pull' ? `Pull ${name} to this machine` : `Promote ${name}`}
      about={
        kind === 'pull'
          ? `What ${from.name} runs is built and run here. You see what differs before anything is done.`
          : 'What runs here is built and run on another instance. You see what differs before anything is done.'
      }
    >
      {targets.length === 0 ? (
        <Empty
          icon={Anchor}
          title="No other instance yet"
          action={
            <Link href="/instances" className="button button-primary">
              Add an instance
            </Link>
          }
        >
          Connect another Homeport, or your hosted account, by its address and a token. Then this app can go there.
        </Empty>
      ) : isUnderWay ? (
        <p className="quiet">Something is on its way from this project already. It stands at the top of the page, with the way to end it.</p>
      ) : (
        <Form from={from} targets={targets} kind={kind} slug={slug} deploymentId={deploymentId} onDone={() => onOpenChange(false)} />
      )}
    </Dialog>
  )
}

interface FormProps extends Pick<Props, 'slug' | 'kind' | 'deploymentId'> {
  from: Connection
  targets: Connection[]
  onDone: () => void
}

function Form({ from, targets, kind, slug, deploymentId, onDone }: FormProps) {
  const [chosenId, setChosenId] = useState<string | null>(null)
  const to = targets.find(({ id }) => id === chosenId) ?? targets.find((one) => one.is_signed_in) ?? targets[0]!
  const [typed, setTyped] = useState(slug)
  const there = useSettled(typed.trim())
  const [taken, setTaken] = useState<ReadonlySet<SettingName> | null>(null)
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set())
  const source = useQuery({
    queryKey: ['promote-source', slug, deploymentId],
    queryFn: ({ signal }) => lookAtSource(from.client, slug, deploymentId, signal),
    gcTime: 0,
  })
  const target = useQuery(
    {
      queryKey: ['promote-target', there],
      queryFn: ({ signal }) => lookAtTarget(to.client, there, signal),
      enabled: there !== '',
      gcTime: 0,
    },
    to.cache,
  )
  const isSettled = there === typed.trim()
  const here = source.data
  const away = isSettled ? target.data : undefined
  const rows = here && away ? compareSettings(here.project, away.project) : []
  const variables = here && away ? compareVariables(here.variables, away.variables) : []
  const missing = variables.filter(({ fate, what }) => fate === 'only_here' && sent.has(what)).map(({ what }) => what)
  const settings = taken ?? new Set(rows.map(({ what }) => what))
  const block = here && away ? obstacleOf(here, away, from.name) : null

  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = here && away && sourceOf(here, away.is_instance ? from.name : null)
    if (!found || block !== null) return
    const wish: Wish = {
      from: { client: from.client, slug },
      to: { client: to.client, slug: there },
      source: found,
      new_name: away.project ? null : here.project.name,
      settings: changesOf(rows, settings),
      before: Object.fromEntries(rows.map(({ what, there: value }) => [what, value])),
      variables: new Set(missing),
    }
    promote(from, to, wish)
    onDone()
  }

  return (
    <form className="stack promote" onSubmit={submit}>
      <TargetField legend="Instance" targets={targets} to={to} onTo={setChosenId} />
      <ProjectField of={to} label="Project there" slug={typed} onSlug={setTyped} hint={aboutProject(away?.project)} />
      {source.error && <ProblemView problem={problemFrom(source.error)} onRetry={() => void source.refetch()} />}
      {target.error && isSettled && <ProblemView problem={problemFrom(target.error)} onRetry={() => void target.refetch()} />}
      {here && <Cargo here={here} kind={kind} />}
      {here && away ? (
        <>
          {block !== null && (
            <p className="promote-block" role="alert">
              {block}
            </p>
          )}
          <Settings rows={rows} names={{ from: from.name, to: to.name }} chosen={settings} onChoose={setTaken} />
          <Variables rows={variables} names={{ from: from.name, to: to.name }} chosen={sent} onChoose={setSent} />
          <Warnings warnings={warningsOf(here, away, { from: from.name, to: to.name })} />
        </>
      ) : (
        !source.error && !(target.error && isSettled) && there !== '' && <SkeletonRows rows={4} height={40} />
      )}
      <footer className="dialog-foot">
        <Button onClick={onDone}>Cancel</Button>
        <Button kind="primary" type="submit" icon={Rocket} disabled={!here || !away || block !== null}>
          {kind === 'pull' ? 'Pull to this machine' : `Promote to ${to.name}`}
        </Button>
      </footer>
    </form>
  )
}

function Cargo({ here, kind }: { here: SourceSide; kind: Props['kind'] }) {
  const { deployment, project, is_instance } = here
  return (
    <section className="promote-cargo" aria-labelledby="promote-cargo">
      <h3 id="promote-cargo">{kind === 'pull' ? 'What is pulled' : 'What is promoted'}</h3>
      {!is_instance && project.repo_url !== null ? (
        <p>
          The head of <code>{project.repo_branch}</code> of <code>{project.repo_url}</code>: this instance gives away no sources, so the project is
          made from its repository. What a private repository asks for does not come along.
        </p>
      ) : deployment ? (
        <DeploymentLine deployment={deployment} />
      ) : (
        <p className="quiet">Nothing yet.</p>
      )}
    </section>
  )
}

/** `fromName`: what the target is told of where it comes from; null for a hosted account, which does not take that. */
function sourceOf({ is_instance, deployment, project }: SourceSide, fromName: string | null): Wish['source'] | null {
  if (is_instance && deployment)
    return { kind: 'archive', deployment_id: deployment.id, ...(fromName !== null && { commit: commitOf(deployment, fromName) }) }
  if (is_instance) return null
  return project.repo_url === null ? null : { kind: 'git', repo_url: project.repo_url, repo_branch: project.repo_branch }
}

/** A folder or an archive has no commit: then it says where it comes from. */
function commitOf({ commit_sha, commit_message, commit_author }: Deployment, fromName: string): CallInput<'uploadCommit'>['query'] {
  return {
    ...(commit_sha !== null && { commit_sha }),
    commit_message: firstLine(commit_message ?? '') || `Promoted from ${fromName}`,
    ...(commit_author !== null && { commit_author }),
  }
}

function aboutProject(found: Project | null | undefined): string {
  if (found === undefined) return 'The slug of an existing project, or of a new one.'
  if (found === null) return 'No project has this slug. A new project is created.'
  return `${found.slug} exists (“${found.name}”, ${projectSign(found).word.toLowerCase()}). It gets a new deployment.`
}

/** Why nothing can go, in one sentence. */
function obstacleOf(here: SourceSide, away: TargetSide, fromName: string): string | null {
  const source = sourceOf(here, null)
  if (!source)
    return here.is_instance
      ? 'Nothing of this project was ever ready: deploy it first, then it can go elsewhere.'
      : `${fromName} gives away no sources, and this project has no git address: it cannot be had from there. Deploy it from where its source is.`
  if (source.kind === 'git' && away.project && away.project.repo_url !== source.repo_url)
    return `The project ${away.project.slug} is not connected to that repository. Take another slug, and a new project is made from it.`
  return null
}
