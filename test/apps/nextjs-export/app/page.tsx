export default function Page() {
  return <h1>Exported by Next.js</h1>
}
