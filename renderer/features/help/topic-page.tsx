import { ChevronLeft } from 'lucide-react'
import { useEffect } from 'react'
import { Link, useParams } from 'wouter'
import { NotFound } from '../../components/not-found.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { ShortcutList } from '../keyboard/index.ts'
import { Article } from './article.tsx'
import type { HelpArticle } from '../../../server/help/topic.ts'
import { findTopic, topicSections } from '../../../server/help/topics.ts'
import styles from './page.module.css'

/** One help topic with related topics. */
export default function HelpTopicPage() {
  const topic = findTopic(useParams().topic ?? '')
  return topic ? <TopicPage topic={topic} /> : <NotFound />
}

function TopicPage({ topic }: { topic: HelpArticle }) {
  useTitle(`${topic.title} · Help`)
  useEffect(() => {
    window.scrollTo({ top: 0 })
  }, [topic])
  const section = topicSections.find(({ topics }) => topics.includes(topic))
  return (
    <div className="page">
      <Link href="/help" className={styles.helpBack}>
        <ChevronLeft size={15} aria-hidden /> All help
      </Link>
      <div className={styles.helpTopicPage}>
        <article aria-labelledby="topic">
          <h1 id="topic">{topic.title}</h1>
          <p className={styles.helpAbout}>{topic.summary}</p>
          <Article blocks={topic.body} />
          {topic.id === 'keyboard' && <ShortcutList heading="h2" />}
        </article>
        {section && (
          <nav className={styles.helpBeside} aria-label={section.heading}>
            <h2>{section.heading}</h2>
            <ul>
              {section.topics.map(({ id: other, title }) => (
                <li key={other}>
                  <Link href={`/help/${other}`} aria-current={other === topic.id ? 'page' : undefined}>
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </div>
    </div>
  )
}
