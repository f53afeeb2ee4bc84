import { GitBranch, ScrollText } from 'lucide-react'
import { Link } from 'wouter'
import type { Preview } from '../../../server/contract/previews.ts'
import { useDeployments } from '../../api/queries.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { firstLine, shortSha } from '../../ui/format.ts'
import { StatusPlate } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'
import { webAddress } from '../../ui/web-address.ts'
import { Thumbnail } from '../pictures/thumbnail.tsx'
import { spoken } from '../project/address.ts'
import { previewSign } from './preview-sign.ts'
import './previews.css'

/** One branch a row: how it looks, where it is, what it was made of and how it goes. */
export function PreviewRows({ slug, previews }: { slug: string; previews: Preview[] }) {
  const { data } = useDeployments(slug, { target: 'preview' })
  const deployments = data?.pages.flatMap((page) => page.deployments) ?? []
  return (
    <ul className="previews" data-rows>
      {previews.map((preview) => {
        const sign = previewSign(preview)
        return (
          <li key={preview.branch} className="preview">
            <Link
              href={`/projects/${slug}/deployments/${preview.deployment_id}`}
              className="preview-cover"
              aria-label={`Deployment of ${preview.branch}, ${sign.word}`}
            />
            <span className="preview-picture">
              <Thumbnail slug={slug} deployment={deployments.find(({ id }) => id === preview.deployment_id)} />
            </span>
            <div className="preview-branch">
              <strong className="clip">
                <GitBranch size={13} aria-hidden /> {preview.branch}
              </strong>
              {preview.url === null ? (
                <span className="faint mono clip">{preview.host}</span>
              ) : (
                <span className="preview-address">
                  <a className="mono clip" href={webAddress(preview.url)} target="_blank" rel="noreferrer noopener">
                    {spoken(preview.url)}
                  </a>
                  <CopyButton text={preview.url} label={`Copy the address of ${preview.branch}`} />
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
            <div className="preview-commit">
              <span className="clip">{preview.commit_message ? firstLine(preview.commit_message) : 'No message'}</span>
              <span className="faint">
                {preview.commit_sha && <code>{shortSha(preview.commit_sha)}</code>} <Ago at={preview.updated_at} />
              </span>
            </div>
            <div className="preview-state">
              <StatusPlate sign={sign} />
              <span className="faint">
                {preview.url !== null && preview.status === 'failed'
                  ? 'the version before serves'
                  : preview.is_cold &&
                    preview.last_request_at && (
                      <>
                        last visit <Ago at={preview.last_request_at} />
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
