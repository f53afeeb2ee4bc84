import { GitBranch, GitPullRequest, ScrollText } from 'lucide-react'
import { Link } from 'wouter'
import { useDeployments } from '../../api/deployments.ts'
import type { Preview } from '../../../server/contract/previews.ts'
import { CopyButton } from '../../components/copy.tsx'
import { firstLine, shortenSha } from '../../lib/format.ts'
import { StatusBadge } from '../../components/status.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { safeWebUrl } from '../../lib/safe-web-url.ts'
import { Thumbnail } from '../screenshots/index.ts'
import { displayUrl } from '../../api/app-url.ts'
import { findPullRequestNumber, previewBadge } from './preview-badge.ts'
import styles from './previews.module.css'

/** One row per branch: screenshot, URL, commit and status. */
export function PreviewRows({ slug, previews }: { slug: string; previews: Preview[] }) {
  const { data } = useDeployments(slug, { target: 'preview' })
  const deployments = data?.pages.flatMap((page) => page.deployments) ?? []
  return (
    <ul className={styles.previews} data-rows>
      {previews.map((preview) => {
        const badge = previewBadge(preview)
        return (
          <li key={preview.branch} className={styles.preview}>
            <Link
              href={`/projects/${slug}/deployments/${preview.deployment_id}`}
              className={styles.previewLink}
              aria-label={`Deployment of ${preview.branch}, ${badge.label}`}
            />
            <span className={styles.previewScreenshot}>
              <Thumbnail slug={slug} deployment={deployments.find(({ id }) => id === preview.deployment_id)} />
            </span>
            <div className={styles.previewBranch}>
              <strong className="truncate">
                <PreviewSource branch={preview.branch} />
              </strong>
              {preview.url === null ? (
                <span className="text-subtle mono truncate">{preview.host}</span>
              ) : (
                <span className={styles.previewAddress}>
                  <a className="mono truncate" href={safeWebUrl(preview.url)} target="_blank" rel="noreferrer noopener">
                    {displayUrl(preview.url)}
                  </a>
                  <CopyButton text={preview.url} label={`Copy URL of ${preview.branch}`} />
                  <Link
                    href={`/projects/${slug}/logs?branch=${encodeURIComponent(preview.branch)}`}
                    className="icon-button"
                    title={`Log of ${preview.branch}`}
                    aria-label={`Log of ${preview.branch}`}
                  >
                    <ScrollText size={16} aria-hidden />
                  </Link>
                </span>
              )}
            </div>
            <div className={styles.previewCommit}>
              <span className="truncate">{preview.commit_message ? firstLine(preview.commit_message) : 'No message'}</span>
              <span className="text-subtle">
                {preview.commit_sha && <code>{shortenSha(preview.commit_sha)}</code>} <RelativeTime at={preview.updated_at} />
              </span>
            </div>
            <div className={styles.previewState}>
              <StatusBadge badge={badge} />
              <span className="text-subtle">
                {preview.url !== null && preview.status === 'failed'
                  ? 'the previous version is live'
                  : preview.is_cold &&
                    preview.last_request_at && (
                      <>
                        last visit <RelativeTime at={preview.last_request_at} />
                      </>
                    )}
              </span>
            </div>
          </li>
        )
      })}
    </ul>
  )
}

/** A branch by its name, a pull request by its number. */
function PreviewSource({ branch }: { branch: string }) {
  const number = findPullRequestNumber(branch)
  const Icon = number === null ? GitBranch : GitPullRequest
  return (
    <>
      <Icon size={13} aria-hidden /> {number === null ? branch : `Pull request ${number}`}
    </>
  )
}
