import { mkdirSync, writeFileSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { hash } from 'node:crypto';
import { parse } from 'yaml';
import { loadSkillsSubsystem, exportRuntimeGlobals, setSkillsDescriptor } from '/work/main/src/skills/index.ts';
const dir='/tmp/hb/lib'; rmSync(dir,{recursive:true,force:true});
const words='the quick brown fox jumps over lazy dog and some more text for a line'.split(' ');
const line=(n:number)=>Array.from({length:n},(_, i)=>words[(i*7+n)%words.length]).join(' ');
for(let i=0;i<1000;i++){ const d=`${dir}/public/skill-${String(i).padStart(4,'0')}`; mkdirSync(d+'/scripts',{recursive:true});
 let body='# Title\n'; while(body.length<10240) body+=line(12+body.length%5)+(body.length%3===0?' [[S:1]]':'')+'\n';
 writeFileSync(d+'/SKILL.md',`---\nname: skill-${String(i).padStart(4,'0')}\ndescription: Skill ${i} ${line(20)}.\nversion: 1.0.${i}\ncategory: c\ntags: [a, b, c]\nwhen_to_use:\n  - ${line(6)}\n  - ${line(7)}\nimport:\n  - skill-${String((i+1)%1000).padStart(4,'0').replace('0005','0000')}\n---\n${body}`);
 writeFileSync(d+'/tools.yaml',`tools:\n  - id: t.${i}\n    role: r\n    why: ${line(20)}\n`);
 writeFileSync(d+'/sources.yaml',`sources:\n  - sid: 1\n    url: https://example.com/${i}\n    title: T\n    text: some\n`);
 writeFileSync(d+'/scripts/run.sh','#!/bin/sh\necho '+line(30)+'\n'); }
function base(){ let n=0; for(const s of readdirSync(dir+'/public')){ const d=dir+'/public/'+s; for(const f of ['SKILL.md','tools.yaml','sources.yaml','scripts/run.sh']){ const b=readFileSync(d+'/'+f); hash('sha256',b); n++; if(f==='SKILL.md'){ const t=b.toString(); const e=t.indexOf('\n---',4); parse(t.slice(4,e)); } else if(f.endsWith('yaml')) parse(b.toString()); } } return n; }
const time=(f:()=>unknown)=>{const t=performance.now(); f(); return performance.now()-t;};
const A:number[]=[],B:number[]=[];
for(let i=0;i<21;i++){ A.push(time(base)); B.push(time(()=>loadSkillsSubsystem({roots:[{kind:'builtin',path:dir}]}))); }
const med=(x:number[])=>x.toSorted((a,b)=>a-b)[x.length>>1]!;
console.log('base',med(A).toFixed(1),'load',med(B).toFixed(1),'ratio',(med(B)/med(A)).toFixed(2), A.map(x=>x|0),B.map(x=>x|0));
const s=loadSkillsSubsystem({roots:[{kind:'builtin',path:dir}]});
console.log(s.skills.length, s.diagnostics.length);
const refs=['skill-0000'];
const C:number[]=[]; for(let i=0;i<50;i++) C.push(time(()=>s.buildSkillsInstructionBlock({refs})));
const blk=s.buildSkillsInstructionBlock({refs}); console.log('render5',blk.active.length,med(C).toFixed(3),'first',C[0]!.toFixed(2));
const E:number[]=[]; const ex=exportRuntimeGlobals(s,{refs,consumer:'c'}); for(let i=0;i<30;i++) E.push(time(()=>setSkillsDescriptor(ex.descriptor,{arrived:ex.trees})));
console.log('rebuild5',med(E).toFixed(2),'first',E[0]!.toFixed(2));
for (const f of ['text','xml','markdown'] as const) { const D:number[]=[]; for(let i=0;i<15;i++) D.push(time(()=>s.skillsGalleryText({format:f}))); 
const G:number[]=[]; for(let i=0;i<15;i++) G.push(time(()=>s.skillsGalleryText({format:f,budget:f==='text'?100000:37000}))); 
console.log('catalog',f,med(D).toFixed(1),'first',D[0]!.toFixed(1),'budget',med(G).toFixed(1), s.skillsGalleryText({format:f,budget:f==='text'?100000:37000}).cut.level); }
const b=setSkillsDescriptor(ex.descriptor,{arrived:ex.trees}).buildSkillsInstructionBlock({refs:ex.refs,consumer:'c'}); console.log(b.sha256===s.buildSkillsInstructionBlock({refs,consumer:'c'}).sha256);
