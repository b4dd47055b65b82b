import { defineConfig } from "vitepress";
import { release, sidebar } from "../pages.mjs";
import { highlighter } from "../highlight.mjs";
import { slug, withBraces, withExamples, withPictures, withRepositoryLinks } from "../markdown.mjs";
import { licenses } from "../licenses.mjs";
import { searching } from "../search.mjs";

const repository = "https://github.com/celadon-cel/celadon";
const { name, revision } = release();
// SITE_BASE is the path of the site on its host, for example /v0.1/. SITE_VERSIONS lists other versions that
// the host has, for example "v0.1 v0.2".
const base = process.env.SITE_BASE ?? "/";
const others = (process.env.SITE_VERSIONS ?? "").split(" ").filter(Boolean);
const versioned = /\/v[\d.]+\/$/.test(base); // then the newest version is one level up

export default defineConfig({
	title: "Celadon",
	description: "Validate Kubernetes custom resources and their CEL rules without a cluster",
	lang: "en-US",
	base,
	srcDir: ".pages",
	cleanUrls: false,
	lastUpdated: false,
	buildConcurrency: 1, // the search index depends on the order of the pages
	ignoreDeadLinks: true, // test/links.mjs checks links, with their anchors
	head: [["link", { rel: "icon", href: `${base}icon.svg` }], ["meta", { name: "referrer", content: "no-referrer" }]],
	vite: { build: { assetsInlineLimit: 0 }, plugins: [licenses] },
	markdown: {
		...highlighter,
		attrs: { disable: true }, // GitHub shows braces as text
		anchor: { slugify: slug },
		config(md) {
			md.disable("emoji");
			withBraces(md);
			withPictures(md);
			withRepositoryLinks(md, repository, revision);
			withExamples(md, base);
		},
	},
	themeConfig: {
		logo: { src: "/icon.svg", alt: "", width: 24, height: 24 },
		sidebar: sidebar(),
		outline: [2, 3],
		nav: [
			{ text: "Install", link: "/install" },
			{ text: "Tour", link: "/tour" },
			{ text: "Playground", link: "/playground/", target: "_self" },
			{
				text: name,
				items: [
					{ text: "Changes", link: `${repository}/blob/${revision}/CHANGELOG.md` },
					...(versioned ? [{ text: "Newest version", link: "../", target: "_self" }] : []),
					...others.map((version) => ({ text: version, link: `${versioned ? "../" : "./"}${version}/`, target: "_self" })),
				],
			},
		],
		socialLinks: [{ icon: "github", link: repository }],
		editLink: { pattern: `${repository}/edit/main/docs/:path`, text: "Edit this page" },
		search: searching,
		docFooter: { prev: "Previous page", next: "Next page" },
	},
});
