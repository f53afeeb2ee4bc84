import { Link } from 'wouter'
import { usePreviews } from '../../api/previews.ts'
import { PreviewRows } from '../previews/index.ts'

const maxPreviews = 3

/** The most recently changed previews; renders nothing without any. */
export function OpenPreviews({ slug }: { slug: string }) {
  const { data: previews } = usePreviews(slug)
  if (!previews || previews.length === 0) return null
  return (
    <section className="card" aria-labelledby="open-previews">
      <header className="card-header">
        <h2 id="open-previews">Previews</h2>
        <Link href={`/projects/${slug}/previews`}>{previews.length > maxPreviews ? `All ${previews.length} previews` : 'All previews'}</Link>
      </header>
      <PreviewRows slug={slug} previews={previews.slice(0, maxPreviews)} />
    </section>
  )
}
