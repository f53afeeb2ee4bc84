export default function Page() {
  return <h1>About the exported site</h1>
}
